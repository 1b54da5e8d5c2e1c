/** The pure parts of the Model Context Protocol: messages, revisions, names, schemas, questions. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { decodedHeader } from '../../../../src/frontdoor/mcp/encoded-header.ts'
import { errorText, idIn, readMessage } from '../../../../src/frontdoor/mcp/message.ts'
import { answerIn, elicitationOf,
  questionsOf } from '../../../../src/frontdoor/mcp/questions/index.ts'
import { abilitiesOf, agreedRevision, eraOf } from '../../../../src/frontdoor/mcp/revision.ts'
import { RpcError, rpcCodes } from '../../../../src/frontdoor/mcp/rpc-error.ts'
import { newSessionId, sessionOf } from '../../../../src/frontdoor/mcp/session.ts'
import { cleanName, toolNames, wordsOf } from '../../../../src/frontdoor/mcp/tool-name.ts'
import { inputSchemaOf, outputSchemaOf } from '../../../../src/frontdoor/mcp/tool-schema.ts'
import { systemAssistantId } from '../../../../src/graph/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const modern = '2026-07-28'
const meta = { 'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {} }
const noHeaders = { version: undefined, method: undefined, name: undefined }

/** The code of the error that a call throws; undefined if it throws none. */
function codeOf(read: () => unknown): number | undefined {
  try {
    read()
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return rpcCodes[error.reason]
  }
  return undefined
}

describe('a message', () => {
  it.each([
    [undefined, -32_700],
    [[], -32_600],
    ['text', -32_600],
    [{}, -32_600],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }, -32_600],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, -32_600],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, -32_600],
    [{ jsonrpc: '2.0', id: 'x'.repeat(1_001), method: 'ping' }, -32_600],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, -32_600],
    [{ jsonrpc: '2.0', id: 1 }, -32_600],
    [{ jsonrpc: '2.0', result: {} }, -32_600],
    [{ jsonrpc: '2.0', id: 1, result: {}, error: {} }, -32_600],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32_602],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: null }, -32_602],
    [{ jsonrpc: '2.0', id: 0, method: 'ping' }, undefined],
    [{ jsonrpc: '2.0', id: '', method: 'ping', more: 1 }, undefined],
  ])('%j is answered %s', (body, code) => {
    expect(codeOf(() => readMessage(body))).toBe(code)
  })

  it('is read or refused, whatever it is', () => {
    const part = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('2.0', 'ping', 1))
    const near = fc.record({ jsonrpc: part, id: part, method: part, params: part, result: part,
      error: part }, { requiredKeys: [] })
    expectAlways(fc.property(fc.oneof(near, fc.jsonValue()), (body) => {
      try {
        const message = readMessage(body)
        expect(['request', 'notification', 'answer']).toContain(message.kind)
      } catch (error) {
        expect(error).toBeInstanceOf(RpcError)
        const text = JSON.parse(errorText(idIn(body), error as RpcError)) as object
        expect(text).toMatchObject({ jsonrpc: '2.0',
          error: { code: expect.any(Number), message: expect.any(String) } })
      }
    }))
  })
})

describe('the revision of a message', () => {
  const ask = (params = {}, method = 'tools/list') =>
    readMessage({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { version: modern, method: 'tools/list', name: undefined }

  it('is that of the header, and of the body from 2026-07-28 on', () => {
    expect(eraOf(ask(), noHeaders)).toBe('former')
    expect(eraOf(ask(), { ...noHeaders, version: '2025-11-25' })).toBe('former')
    expect(eraOf(ask({ _meta: meta }), headers)).toBe('modern')
    expect(agreedRevision('2025-06-18')).toBe('2025-06-18')
    expect(agreedRevision('2024-11-05')).toBe('2025-11-25')
  })

  it.each([
    ['no header', { _meta: meta }, noHeaders, -32_020],
    ['another header', { _meta: meta }, { ...headers, version: '2025-11-25' }, -32_020],
    ['a revision that nobody knows', {}, { ...headers, version: '1900-01-01' }, -32_022],
    ['no meta', {}, headers, -32_602],
    ['no capabilities', { _meta: { 'io.modelcontextprotocol/protocolVersion': modern } }, headers,
      -32_602],
    ['no method in the header', { _meta: meta }, { ...headers, method: undefined }, -32_020],
    ['another method in the header', { _meta: meta }, { ...headers, method: 'tools/call' },
      -32_020],
  ])('with %s is refused', (_, params, given, code) => {
    expect(codeOf(() => eraOf(ask(params), given))).toBe(code)
  })

  it('has the name of the tool in a header, encoded if it must be', () => {
    const call = ask({ _meta: meta, name: 'Größe' }, 'tools/call')
    const named = (name: string | undefined) =>
      codeOf(() => eraOf(call, { version: modern, method: 'tools/call', name }))
    expect(named(`=?base64?${Buffer.from('Größe').toString('base64')}?=`)).toBeUndefined()
    expect([named(undefined), named('other'), named('=?base64?/w==?=')])
      .toEqual([-32_020, -32_020, -32_020])
    expect(decodedHeader('=?base64?no')).toBe('=?base64?no')
  })

  it('says whether the client shows forms', () => {
    const shows = (capabilities: unknown) => abilitiesOf(capabilities).answersQuestions
    expect([{ elicitation: {} }, { elicitation: { form: {}, url: {} } }].map(shows))
      .toEqual([true, true])
    expect([{}, null, { elicitation: true }, { elicitation: { url: {} } }].map(shows))
      .toEqual([false, false, false, false])
  })
})

describe('a session', () => {
  it('is known by its id alone', () => {
    const env = { uuid: () => crypto.randomUUID() }
    for (const answersQuestions of [true, false]) {
      const id = newSessionId({ answersQuestions }, env)
      expect(sessionOf(id)).toEqual({ id, answersQuestions })
    }
    expect([sessionOf(''), sessionOf('f-1'), sessionOf(`x-${crypto.randomUUID()}`)])
      .toEqual([undefined, undefined, undefined])
  })
})

describe('the name of a tool', () => {
  const id = (end: string) => `00000000-0000-4000-8000-${end.padStart(12, '0')}`
  const named = (name: string, end: string) => ({ name, graphId: 'agent', assistantId: id(end) })

  it('is that of the assistant, in few characters', () => {
    expect(cleanName('Weather in Oslo!')).toBe('Weather_in_Oslo_')
    expect(cleanName('天気')).toBe('assistant')
    expect(cleanName('x'.repeat(500))).toHaveLength(115)
  })

  it('is the own one of the graph first, then of the oldest', () => {
    const own = { name: 'renamed', graphId: 'agent', assistantId: systemAssistantId('agent') }
    const rows = [named('agent', 'a'), named('My bot', 'b'), named('My.bot', 'c'), own]
    expect(toolNames(rows, ['agent']))
      .toEqual(['agent_00000000000a', 'My_bot', 'My_bot_00000000000c', 'agent'])
  })

  it('is unique and fits, and a search for its words finds its assistant', () => {
    const names = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 12 })
    expectAlways(fc.property(names, (all) => {
      const rows = all.map((name, index) => named(name, index.toString(16)))
      const tools = toolNames(rows, ['agent', 'other'])
      expect(new Set(tools).size).toBe(tools.length)
      tools.forEach((tool, index) => {
        expect(tool).toMatch(/^[A-Za-z0-9_-]{1,128}$/)
        expect(wordsOf(tool).some((word) => rows[index]!.name.includes(word))).toBe(true)
      })
    }))
  })
})

describe('the schema of a tool', () => {
  it('is an object, whatever the graph tells', () => {
    expect([null, 'x', { type: 'string' }, { description: 'x'.repeat(70_000) }].map(inputSchemaOf))
      .toEqual(Array.from({ length: 4 }, () => ({ type: 'object' })))
    expect(inputSchemaOf({ properties: { a: {} }, required: ['a'] }))
      .toEqual({ type: 'object', properties: { a: {} }, required: ['a'] })
  })

  it('refuses no result of the graph', () => {
    expect(
      outputSchemaOf({ type: 'object', required: ['a'], additionalProperties: false,
        properties: { a: { type: 'string', description: 'The a' } } }),
    )
      .toEqual({ type: 'object', properties: { a: { description: 'The a' } } })
    expect(outputSchemaOf({ type: 'array' })).toBeUndefined()
  })
})

describe('a question', () => {
  const [asked] = questionsOf([{ id: 'q', value: { question: 'Which?' } }])
  const [counted] = questionsOf([{ id: 'q', value: 'How many?',
    response_schema: { type: 'integer' } }])
  const [form] = questionsOf([{ value: { message: 'Who?', of: 1 }, response_schema: {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  } }])
  const [deep] = questionsOf([{ value: 'List', response_schema: { type: 'array' } }])

  it('becomes a message and a form', () => {
    expect(elicitationOf(asked!)).toEqual({ message: 'Which?',
      requestedSchema: { type: 'object',
        properties: { answer: { type: 'string', title: 'Answer' } }, required: ['answer'] } })
    expect(elicitationOf(counted!)).toMatchObject({ message: 'How many?',
      requestedSchema: { properties: { answer: { type: 'integer' } } } })
    expect(elicitationOf(form!)).toMatchObject({ message: 'Who?\n\n{"message":"Who?","of":1}',
      requestedSchema: { properties: { name: { type: 'string' } }, required: ['name'] } })
    expect(form!.id).toBe('question-1')
  })

  it('goes on with what was answered', () => {
    const accept = (content: unknown) => ({ action: 'accept', content })
    expect(answerIn(accept({ answer: 'true' }), asked!)).toEqual({ kind: 'given', value: 'true' })
    expect(answerIn(accept({ answer: 3 }), counted!)).toEqual({ kind: 'given', value: 3 })
    expect(answerIn(accept({ name: 'Ann' }), form!))
      .toEqual({ kind: 'given', value: { name: 'Ann' } })
    expect(answerIn(accept({ answer: '[1]' }), deep!)).toEqual({ kind: 'given', value: [1] })
    expect(answerIn(accept({ answer: 'no list' }), deep!))
      .toEqual({ kind: 'given', value: 'no list' })
  })

  it('about actions of an agent becomes a decision about each', () => {
    const [actions] = questionsOf([{ id: 'q', value: {
      action_requests: [{ name: 'send', args: { to: 'Ann' } }, { name: 'delete', args: {} }],
      review_configs: [{ action_name: 'send', allowed_decisions: ['approve', 'edit', 'reject'] }, {
        action_name: 'delete',
        allowed_decisions: ['reject'],
      }],
    } }])
    expect(elicitationOf(actions!)).toMatchObject({ message: expect.stringContaining('Ann'),
      requestedSchema: { properties: {
        decision_1: { type: 'string', title: 'send', enum: ['approve', 'reject'] },
        decision_2: { type: 'string', title: 'delete', enum: ['reject'] },
      } } })
    const accept = (content: object) => answerIn({ action: 'accept', content }, actions!)
    expect(accept({ decision_1: 'approve', decision_2: 'reject' })).toEqual({ kind: 'given',
      value: { decisions: [{ type: 'approve' }, { type: 'reject' }] } })
    expect(accept({ decision_1: 'approve', decision_2: 'approve' })).toEqual({ kind: 'missing' })
  })

  it('may be refused, or not answered at all', () => {
    expect([{ action: 'decline' }, { action: 'cancel' }].map((each) => answerIn(each, asked!)))
      .toEqual([{ kind: 'refused' }, { kind: 'refused' }])
    expect([undefined, {}, { action: 'accept' }, { action: 'accept', content: {} }]
      .map((each) => answerIn(each, asked!).kind)).toEqual(Array(4).fill('missing'))
  })
})
