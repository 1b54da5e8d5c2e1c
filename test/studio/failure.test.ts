/** A server that dies under a run: the page comes back by itself, and shows each step once. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const browser = useBrowser()
const newGate = useGates()
let server: ServerProcess
beforeAll(async () => {
  server = await startServer({ project: 'conformance', args: oneWorker })
})
afterAll(() => server?.close())

it('goes on before the eyes of its reader when the server is killed, as attempt 2', async () => {
  const { threads } = clientOf(server.url)
  const { thread_id: id } = await threads.create({ graphId: 'held' })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`, {
    // The browser itself says that the server was away.
    expected: /ERR_|net::|Failed to load resource/,
  })
  const { page } = tab
  const gate = newGate()
  const box = page.getByRole('textbox', { name: /message/i })
  await box.fill(`hold ${gate.url}`)
  await box.press('Enter')
  const line = page.getByRole('grid', { name: /time line/i })
  await line.getByTitle('first').first().waitFor()
  await gate.arrived()
  await server.kill('SIGKILL')
  await server.restart()
  await gate.arrived(2)
  await page.getByText('attempt 2').first().waitFor()
  gate.open()
  const rows = line.getByRole('row')
  await rows.filter({ hasText: 'last' }).waitFor()
  await rows.filter({ hasText: 'now' }).filter({ hasText: 'last' }).waitFor()
  const names = ['first', 'hold', 'last']
  await expect.poll(async () =>
    (await rows.allInnerTexts()).map((text) => text.split('\n')[0]!)
      .filter((name) => names.includes(name)).sort()
  ).toEqual(names)
  await expect.poll(() => line.getByText('attempt 2').count()).toBeGreaterThan(0)
  for (const said of ['first', 'held', 'last']) {
    await expect.poll(() => page.getByRole('log').getByText(said, { exact: true }).count()).toBe(1)
  }
  expectQuiet(tab)
  await tab.close()
})
