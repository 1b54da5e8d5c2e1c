/** Reads a secret value: typed without an echo, or piped in. */

import { text } from 'node:stream/consumers'
import type { ReadStream } from 'node:tty'

import { CommandError } from '../admin-command.ts'

/** Input for the value, and output for the prompt. */
export interface SecretInput {
  /** A terminal, or a pipe. */
  readonly input:
    & Pick<ReadStream, 'isTTY' | 'setRawMode' | 'resume' | 'pause' | 'on' | 'off'>
    & NodeJS.ReadableStream
  ask(text: string): void
}

/** Resolves with the value, without the end of its line. Throws CommandError if it is empty. */
export async function readSecret({ input, ask }: SecretInput, prompt: string): Promise<string> {
  const value = input.isTTY
    ? await typed({ input, ask }, prompt)
    : (await text(input)).replace(/\r?\n$/, '')
  if (value !== '') return value
  throw new CommandError('The value is empty: nothing was set.', 'misused')
}

const keys = { enter: ['\r', '\n', '\u0004'], interrupt: '\u0003',
  erase: ['\u007f', '\b'] } as const

/** A typed value. In raw mode, the terminal shows nothing of it. */
async function typed({ input, ask }: SecretInput, prompt: string): Promise<string> {
  ask(prompt)
  input.setRawMode(true)
  input.resume()
  try {
    return await new Promise<string>((done, failed) => {
      let value = ''
      const take = (chunk: Buffer | string) => {
        for (const key of chunk.toString()) {
          if (keys.enter.some((each) => each === key)) return end(() => done(value))
          if (key === keys.interrupt) {
            return end(() => failed(new CommandError('Nothing was set.')))
          }
          value = keys.erase.some((each) => each === key)
            ? [...value].slice(0, -1).join('')
            : value + key
        }
      }
      const end = (then: () => void) => {
        input.off('data', take)
        then()
      }
      input.on('data', take)
    })
  } finally {
    input.setRawMode(false)
    input.pause()
    ask('\n')
  }
}
