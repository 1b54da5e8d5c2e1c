/** Reads lines of JSON from an answer that is still coming. */

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

import type { ControlLine } from '../../server/operator/control-answer.ts'
import { NoAnswerError } from './control-error.ts'

/** The lines until the answer ends. Throws NoAnswerError if the connection ends before. */
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
    if (line !== '') yield JSON.parse(line) as ControlLine
  }
  if (cut !== undefined) {
    throw new NoAnswerError(`The connection ended within the lines (${cut.message}).`, true)
  }
}
