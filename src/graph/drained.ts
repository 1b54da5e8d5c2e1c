/** The moment at which a stream takes more. */

import type { Writable } from 'node:stream'

/** Resolves when not much waits to be written, or when nothing will be any more. */
export async function drained(
  stream: Pick<Writable, 'destroyed' | 'writable' | 'writableNeedDrain' | 'on' | 'off'>,
): Promise<void> {
  if (stream.destroyed || !stream.writable || !stream.writableNeedDrain) return
  await new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}
