/** Server-sent events in the bytes of an answer. */

import { HeddleError } from '../../../errors.ts'

/** Characters of one event, which is parsed at once. */
const eventMax = 256 * 1024

/** The data of each event, however the bytes are cut. An event that is not whole counts too. */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  let characters = 0
  for await (const chunk of withEnd(body)) {
    const text = chunk === null
      ? `${decoder.decode()}\n\n`
      : decoder.decode(chunk, { stream: true })
    rest += text
    // A long line that comes in small pieces is looked through once.
    if (!text.includes('\n')) {
      requireModest(rest.length)
      continue
    }
    const lines = rest.split('\n')
    rest = lines.pop()!
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5))
        characters += line.length
        requireModest(characters)
      } else if (line === '' && data.length > 0) {
        yield data.join('\n')
        data = []
        characters = 0
      }
    }
    requireModest(rest.length)
  }
}

async function* withEnd(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array | null> {
  yield* body
  yield null
}

function requireModest(characters: number): void {
  if (characters <= eventMax) return
  throw new HeddleError('model_failed',
    `One event of the model's answer is longer than ${eventMax} characters.`)
}
