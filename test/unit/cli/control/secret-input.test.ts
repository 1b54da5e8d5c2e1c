/** A secret that is typed is not shown, and one that is piped in loses the end of its line. */

import { PassThrough } from 'node:stream'

import { expect, it } from 'vitest'

import { readSecret } from '../../../../src/cli/control/secret-input.ts'

/** A terminal, which writes down whether it shows what is typed. */
function terminal() {
  const modes: boolean[] = []
  const input = Object.assign(new PassThrough(), { isTTY: true,
    setRawMode: (mode: boolean) => void modes.push(mode) })
  return { modes, input: input as never as Parameters<typeof readSecret>[0]['input'],
    type: (text: string) => input.write(text) }
}

it('What is typed ends with the line, and can be corrected.', async () => {
  const { input, modes, type } = terminal()
  let asked = ''
  const read = readSecret({ input, ask: (text) => void (asked += text) }, 'Value of KEY: ')
  expect(modes).toEqual([true])
  type('huntx\u007f')
  type('er2\r')
  expect(await read).toBe('hunter2')
  expect([asked, modes]).toEqual(['Value of KEY: \n', [true, false]])
})

it('Ctrl-C sets nothing, and the terminal shows again what is typed.', async () => {
  const { input, modes, type } = terminal()
  const read = readSecret({ input, ask: () => {} }, '')
  type('hunter2\u0003')
  await expect(read).rejects.toThrow('Nothing was set.')
  expect(modes).toEqual([true, false])
})

it.each([['hunter2\n', 'hunter2'], ['two\nlines\r\n', 'two\nlines'], ['hunter2', 'hunter2']])(
  'What is piped in as %j is %j.',
  async (piped, value) => {
    const input = new PassThrough()
    input.end(piped)
    expect(await readSecret({ input: input as never, ask: () => {} }, '')).toBe(value)
  },
)

it('An empty value is a mistake.', async () => {
  const input = new PassThrough()
  input.end('\n')
  await expect(readSecret({ input: input as never, ask: () => {} }, '')).rejects
    .toMatchObject({ fault: 'misused' })
})
