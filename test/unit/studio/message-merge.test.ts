/** Pieces of messages become the same whole as with the official client. */

import { MessageTupleManager } from '@langchain/langgraph-sdk/ui'
import { describe, expect, it } from 'vitest'

import { withPiece } from '../../../src/studio/live/message-merge.ts'
import type { ChatMessage } from '../../../src/studio/live/message-merge.ts'

function chance(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 >>> 0
  return (below) => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223 >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

/** A text in pieces of any length, empty ones too. */
function cut(text: string, random: (below: number) => number): readonly string[] {
  const pieces = []
  for (let rest = text; rest !== '';) {
    const length = random(7)
    pieces.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return pieces
}

const texts = ['', 'one', 'Der Kettfaden hält. 織機\n\n- a\n- b', 'x'.repeat(40)]

/** A message in pieces: text or parts, calls of tools, counts of tokens. */
function randomPieces(seed: number): readonly ChatMessage[] {
  const random = chance(seed)
  const type = random(2) === 0 ? 'AIMessageChunk' : 'ai'
  const base = { id: `m${seed}`, type }
  const inParts = random(2) === 0
  const pieces: ChatMessage[] = cut(texts[random(4)]!, random).map((text) => ({ ...base,
    content: inParts ? [{ type: 'text', text, index: 0 }] : text })
  )
  for (let call = 0, calls = random(3); call < calls; call++) {
    const args = JSON.stringify({ city: texts[1 + random(3)], days: random(9) })
    const chunk = { type: 'tool_call_chunk', index: call }
    pieces.push({ ...base, content: inParts ? [] : '',
      tool_call_chunks: [{ ...chunk, id: `c${call}`, name: `tool_${call}`, args: '' }] })
    for (const part of cut(args, random)) {
      pieces.push({ ...base, content: inParts ? [] : '',
        tool_call_chunks: [{ ...chunk, args: part }] })
    }
  }
  if (random(2) === 0) {
    pieces.push({ ...base, content: inParts ? [] : '',
      usage_metadata: { input_tokens: 7, output_tokens: random(99), total_tokens: 9 } })
    pieces.push({ ...base, content: inParts ? [] : '',
      usage_metadata: { input_tokens: 0, output_tokens: 4, total_tokens: 4 } })
  }
  return pieces.length === 0 ? [{ ...base, content: '' }] : pieces
}

/** What a person sees of a message. */
const seenOf = ({ content, tool_calls: calls = [], usage_metadata: usage }: ChatMessage) => ({
  content,
  calls: calls.map(({ id, name, args }) => ({ id, name, args })),
  usage: usage && { input: usage.input_tokens, output: usage.output_tokens },
})

describe('a message', () => {
  it('is the same as with the official client, for 200 ways to cut one', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const official = new MessageTupleManager()
      let own: ChatMessage | undefined
      const pieces = randomPieces(seed)
      for (const piece of pieces) {
        official.add(structuredClone(piece) as never, undefined as never)
        own = withPiece(own, piece)
      }
      const theirs = official.get(`m${seed}`)!.chunk as unknown as ChatMessage
      expect(seenOf(own!), `seed ${seed}`).toEqual(seenOf(theirs))
    }
  })

  it('shows the arguments of a call while they come', () => {
    const piece = (args: string): ChatMessage => ({ id: 'm', type: 'AIMessageChunk', content: '',
      tool_call_chunks: [{ index: 0, args }] })
    const first = withPiece(undefined, { ...piece('{"ci'),
      tool_call_chunks: [{ index: 0, id: 'c', name: 'look', args: '{"ci' }] })
    expect(first.tool_calls).toEqual([{ id: 'c', name: 'look', args: '{"ci' }])
    expect(withPiece(first, piece('ty":1}')).tool_calls)
      .toEqual([{ id: 'c', name: 'look', args: { city: 1 } }])
  })
})
