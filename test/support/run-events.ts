/** Messages and collected events of runs and their streams, for tests. */

/** One part of an official client's stream. */
export interface Part {
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

/** The input of a chat graph: one human message for each text. */
export function say(...texts: readonly string[]) {
  return { messages: texts.map((content) => ({ role: 'user', content })) }
}

/** The texts of a chat state, in order. */
export function texts(values: unknown): string[] {
  const { messages = [] } = values as { messages?: { content: string }[] }
  return messages.map((message) => message.content)
}

/** All parts of a stream, with the event `end` of a run. */
export async function collectAll(stream: AsyncIterable<unknown>): Promise<Part[]> {
  const parts: Part[] = []
  for await (const part of stream) parts.push(part as Part)
  return parts
}

/** All parts of a stream before the event `end`. */
export async function collect(stream: AsyncIterable<unknown>): Promise<Part[]> {
  return beforeEnd(await collectAll(stream))
}

function beforeEnd(parts: readonly Part[]): Part[] {
  return parts.at(-1)?.event === 'end' ? parts.slice(0, -1) : [...parts]
}

/** The data of all parts with this event name. */
export function dataOf<T = Record<string, unknown>>(parts: readonly Part[], event: string): T[] {
  return parts.filter((part) => part.event === event).map((part) => part.data as T)
}

/** Event names in order, without repetitions in a row. */
export function namesOf(parts: readonly Part[]): string[] {
  return parts.map((part) => part.event).filter((name, at, all) => name !== all[at - 1])
}

/** Reads a stream part by part. `until` takes parts through the first that fits. */
export class StreamReader {
  readonly parts: Part[] = []
  readonly #iterator: AsyncIterator<unknown>

  constructor(stream: AsyncIterable<unknown>) {
    this.#iterator = stream[Symbol.asyncIterator]()
  }

  /** Throws if the stream ends before such a part. */
  async until(fits: (part: Part) => boolean): Promise<Part> {
    for (;;) {
      const { done, value } = await this.#iterator.next()
      if (done) throw new Error(`the stream ended after ${JSON.stringify(this.parts)}`)
      this.parts.push(value as Part)
      if (fits(value as Part)) return value as Part
    }
  }

  /** All parts before the event `end`, including those that were read before. */
  async rest(): Promise<Part[]> {
    for (;;) {
      const { done, value } = await this.#iterator.next()
      if (done) return beforeEnd(this.parts)
      this.parts.push(value as Part)
    }
  }

  /** Leaves the stream. */
  async leave(): Promise<void> {
    await this.#iterator.return?.()
  }
}
