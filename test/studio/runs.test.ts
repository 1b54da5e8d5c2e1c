/** Runs across threads: filters in the address, pages as one scrolls, and where a run leads. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

async function aRun(graph: string, input: Record<string, unknown>): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, graph, { input, raiseError: false })
  return id
}

it('are narrowed by state and graph, and lead to their thread', async () => {
  const id = await aRun('nestedask', {})
  await aRun('failing', {})
  const tab = await browser.open(`${server.url}/studio/runs`)
  const { page } = tab
  const rows = page.getByRole('grid', { name: 'Runs' }).getByRole('row')
  await rows.first().waitFor()
  expect(await tab.violations()).toEqual([])
  await page.getByRole('combobox', { name: 'Graph' }).selectOption('failing')
  await page.getByRole('button', { name: 'Failed' }).click()
  await page.getByRole('combobox', { name: 'Created' }).selectOption('Last hour')
  await expect.poll(() => rows.first().innerText()).toContain('failing')
  expect(Object.fromEntries(new URL(page.url()).searchParams))
    .toEqual({ graph: 'failing', status: 'error', since: '1h' })
  await page.goto(`${server.url}/studio/runs?graph=nestedask`)
  await expect.poll(() => rows.first().innerText()).toContain('nestedask')
  await page.keyboard.press('j')
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toContain(`/studio/threads/${id}?view=runs&run=`)
  await tab.close()
})

it('without any say so, in both colours and on a phone', async () => {
  for (const look of [{ colours: 'dark', width: 1280 }, { colours: 'light',
    width: 390 }] as const) {
    const tab = await browser.open(`${server.url}/studio/runs?graph=nobody`, look)
    await tab.page.getByRole('heading', { name: 'No run matches' }).waitFor()
    expect(await tab.violations()).toEqual([])
    await tab.page.getByRole('button', { name: 'Show all runs' }).click()
    await tab.page.getByRole('grid', { name: 'Runs' }).getByRole('row').first().waitFor()
    expect(await tab.violations()).toEqual([])
    expectQuiet(tab)
    await tab.close()
  }
})

it('are read page by page as one scrolls, and say what the server refuses', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, { expected: /Failed to load/ })
  const { page } = tab
  const asked: unknown[] = []
  await page.route('**/runs/search', (route) => {
    const { cursor } = route.request().postDataJSON() as { cursor?: string }
    asked.push(cursor)
    const at = Number(cursor ?? 0)
    if (at === 2) return route.fulfill({ status: 422, json: { detail: 'This cursor is old.' } })
    const json = Array.from({ length: 100 }, (_, row) => ({
      run_id: `00000000-0000-4000-8000-${String(at * 100 + row).padStart(12, '0')}`,
      thread_id: '00000000-0000-4000-8000-000000000000',
      assistant_id: '00000000-0000-4000-8000-00000000000a',
      graph_id: `page ${at}`,
      status: 'success',
      created_at: '2026-11-27T00:00:00Z',
      updated_at: '2026-11-27T00:00:01Z',
    }))
    return route.fulfill({ json, headers: { 'x-pagination-cursor': String(at + 1) } })
  })
  await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
  const grid = page.getByRole('grid', { name: 'Runs' })
  await grid.getByText('page 0').first().waitFor()
  expect(asked).toEqual([undefined])
  await grid.focus()
  await page.keyboard.press('End')
  await grid.getByText('page 1').first().waitFor()
  await page.keyboard.press('End')
  await page.getByText('This cursor is old.').waitFor()
  expect(asked).toEqual([undefined, '1', '2'])
  expectQuiet(tab)
  await tab.close()
})
