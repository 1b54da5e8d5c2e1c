/** Acts on many threads: what is counted is what goes, and nothing else. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

async function threadsOf(user: string, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count },
      (_, number) =>
        server.client.threads.create({ metadata: { user, title: `Thread ${number}` } })),
  )
}

const left = (user: string) => server.client.threads.count({ metadata: { user } })
const newUser = () => `bulk-${randomUUID().slice(0, 8)}`

it('deletes the rows that were chosen', async () => {
  const user = newUser()
  await threadsOf(user, 3)
  const tab = await browser.open(`${server.url}/studio/threads?q=user:${user}`)
  const { page } = tab
  await page.getByRole('link', { name: 'Thread 0' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByRole('checkbox', { name: 'Choose Thread 0' }).check()
  await page.getByRole('checkbox', { name: 'Choose Thread 2' }).check()
  const chosen = await page.getByRole('checkbox', { checked: true }).count()
  await page.getByText(`${chosen} chosen`).waitFor()
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Delete …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: `Delete ${chosen} threads` }).click()
  await page.getByText(`${chosen} threads deleted.`).waitFor()
  await page.getByRole('button', { name: 'Close' }).last().click()
  await expect.poll(() => left(user)).toBe(3 - chosen)
  expectQuiet(tab)
  await tab.close()
})

it('deletes all that match, above a hundred after their number was typed', async () => {
  const [user, other] = [newUser(), newUser()]
  await Promise.all([threadsOf(user, 103), threadsOf(other, 1)])
  const tab = await browser.open(`${server.url}/studio/threads?q=user:${user}`)
  const { page } = tab
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await page.getByRole('button', { name: 'All 103 that match' }).click()
  await page.getByRole('button', { name: 'Delete …' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`user = "${user}"`).waitFor()
  const button = dialog.getByRole('button', { name: 'Delete 103 threads' })
  await button.waitFor()
  await expect.poll(() => button.isDisabled()).toBe(true)
  expect(await tab.violations()).toEqual([])
  await dialog.getByLabel('Type 103 to confirm').fill('103')
  await button.click()
  await dialog.getByText('103 threads deleted.').waitFor()
  expect([await left(user), await left(other)]).toEqual([0, 1])
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('heading', { name: 'No thread matches' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('stops between two calls, and says how far it came', async () => {
  const user = newUser()
  await threadsOf(user, 2)
  const tab = await browser.open(`${server.url}/studio/threads?q=user:${user}`)
  const { page } = tab
  let calls = 0
  const second = Promise.withResolvers<void>()
  await page.route('**/threads/prune', async (route) => {
    const { dry_run: dry } = route.request().postDataJSON() as { dry_run?: boolean }
    if (dry) return route.fulfill({ json: { count: 2, dry_run: true } })
    if (++calls > 1) await second.promise
    return route.fulfill({ json: { pruned_count: 1, remaining: 7 } }).catch(() => {})
  })
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await page.getByRole('button', { name: 'All 2 that match' }).click()
  await page.getByRole('button', { name: 'Delete …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 threads' }).click()
  await page.getByText('1 thread deleted, 7 left.').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped. 1 thread deleted, 7 left.').waitFor()
  second.resolve()
  expect(calls).toBe(2)
  await tab.close()
})

it('cancels the runs of all that match', async () => {
  const user = newUser()
  const { thread_id: id } = await server.client.threads.create({ metadata: { user } })
  const run = await server.client.runs.create(id, 'endless', { input: {}, afterSeconds: 3_000 })
  const tab = await browser.open(`${server.url}/studio/threads?q=user:${user}`)
  const { page } = tab
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await page.getByRole('button', { name: 'All 1 that match' }).click()
  await page.getByRole('button', { name: 'Cancel runs …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 run' }).click()
  await page.getByText('All runs cancelled.').waitFor()
  await expect.poll(async () => (await server.client.runs.get(id, run.run_id)).status)
    .toBe('interrupted')
  expectQuiet(tab)
  await tab.close()
})

it('says why a count was refused', async () => {
  const user = newUser()
  await threadsOf(user, 1)
  const tab = await browser.open(`${server.url}/studio/threads?q=user:${user}`, {
    expected: /Failed to load/,
  })
  const { page } = tab
  await page.route('**/threads/prune',
    (route) => route.fulfill({ status: 403, json: { detail: 'Only writers may delete.' } }))
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await page.getByRole('button', { name: 'All 1 that match' }).click()
  await page.getByRole('button', { name: 'Delete …' }).click()
  await page.getByText('Only writers may delete.').waitFor()
  await expect.poll(() => left(user)).toBe(1)
  expectQuiet(tab)
  await tab.close()
})
