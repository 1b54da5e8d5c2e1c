/** Reads lines of JSON from an answer that is still coming. */

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

import type { ControlLine } from '../../api/index.ts'
import { ControlError, NoAnswerError } from './control-error.ts'

/** Ends what is followed. */
interface LastLine {
  readonly error: string
  readonly message: string
}

/**
 * The lines until the answer ends. Throws NoAnswerError if the connection ends before, and
 * ControlError if the server says why there are no more.
 */
export async function* linesOf(answer: Response): AsyncGenerator<ControlLine> {
  const input = Readable.fromWeb(answer.body as ReadableStream)
  const lines = createInterface({ input, crlfDelay: Infinity })
  // The interface does not pass the errors of its input on.
  let cut: Error | undefined
  input.once('error', (error) => {
    cut = error
    lines.close()
  })
  for await (const line of lines) {
    if (line === '') continue
    const said = JSON.parse(line) as ControlLine | LastLine
    if ('error' in said) throw new ControlError(said.error, said.message)
    yield said
  }
  if (cut !== undefined) {
    throw new NoAnswerError(`The connection ended within the lines (${cut.message}).`, true)
  }
}
