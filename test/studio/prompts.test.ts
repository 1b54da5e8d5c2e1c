/** Prompts in the Studio: versions, changes, tags, likes, and what others do meanwhile. */

import { beforeAll, expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { chatManifest, placeholder } from './support/chat-manifest.ts'
import { expectGoodLooks } from './support/looks.ts'
import { asReader } from './support/changed-answer.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const stamp = crypto.randomUUID().slice(0, 8)
const [name, many] = [`p-${stamp}`, `many-${stamp}`]

const send = async <Answer = unknown>(method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await ask(server.url, method, `/api/v1${path}`, body)
  expect(status, JSON.stringify(answer)).toBeLessThan(300)
  return answer as Answer
}
const make = (handle: string, more: object = {}) =>
  send('POST', '/repos', { repo_handle: handle, is_public: false, ...more })
const commit = (handle: string, manifest: unknown) =>
  send('POST', `/commits/-/${handle}`, { manifest })

beforeAll(async () => {
  await make(name, { description: `What ${stamp} says.`, tags: ['docs'] })
  await commit(name, chatManifest('Be kind.', 'Say {what}.'))
})

it('a prompt is changed while others change it, compared, tagged, restored and liked', async () => {
  const tab = await browser.open(`${server.url}/studio/prompts/${name}`, { expected: /of 4/ })
  const { page } = tab
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('link')
  const words = page.getByLabel('Message 2', { exact: true })
  await words.fill('Sing {what}.')
  await commit(name, chatManifest('Be kind.', 'Whistle {what}.'))
  await page.getByLabel('What it changes').fill('Songs instead of words')
  await page.getByRole('button', { name: 'Save as a version' }).click()
  await page.getByRole('alert').getByText(/^The newest commit is \w{64}, not/).waitFor()
  await expect.poll(() => words.inputValue()).toBe('Sing {what}.')
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Save on top of it' }).click()
  await expect.poll(() => versions.count()).toBe(3)
  await versions.first().getByText('Songs instead of words').waitFor()
  await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })

  await page.getByLabel('Compare with').selectOption({ index: 1 })
  const changes = page.getByRole('region', { name: 'Changes' })
  await expect.poll(() => changes.getByRole('insertion').allInnerTexts()).toEqual(['Sing'])
  expect(await changes.getByRole('deletion').allInnerTexts()).toEqual(['Whistle'])
  await page.reload()
  await changes.getByText('Sing', { exact: true }).waitFor()
  await page.getByLabel('Tag', { exact: true }).fill('no tag at all')
  await page.getByRole('button', { name: 'Tag this version' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Tag', { exact: true }).fill('prod')
  await page.getByRole('button', { name: 'Tag this version' }).click()
  await versions.first().getByText('prod', { exact: true }).waitFor()
  await versions.nth(2).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(() => versions.count()).toBe(4)
  expect(JSON.stringify(await send('GET', `/commits/-/${name}/latest`))).toContain('Say {what}.')

  await page.getByRole('button', { name: 'Make public' }).click()
  const dialog = page.getByRole('dialog', { name: 'Make public' })
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Make public' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(`local/${name}`, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Make private' }).click()
  await page.getByText('private', { exact: true }).waitFor()
  await page.getByRole('button', { name: `Like ${name}: 0` }).click()
  await page.getByRole('button', { name: `Like ${name}: 1`, pressed: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('the list is walked by keys, filtered, and liked from', async () => {
  await make(`${name}-second`, { tags: ['a', 'b', 'c', 'd'] })
  const tab = await browser.open(`${server.url}/studio/prompts`)
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Prompts' })
  await page.getByRole('searchbox', { name: 'Filter prompts' }).fill(stamp)
  await page.getByText('2 prompts', { exact: true }).waitFor()
  await grid.getByText('+1', { exact: true }).waitFor()
  await grid.getByText('docs', { exact: true }).click()
  await page.getByText('1 prompt', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Tag docs: show all' }).click()
  await page.getByRole('searchbox', { name: 'Filter prompts' }).fill(`${name}-none`)
  await page.getByText('No prompt matches').waitFor()
  await page.getByRole('searchbox', { name: 'Filter prompts' }).fill(stamp)
  await page.getByText('2 prompts', { exact: true }).waitFor()
  await page.getByRole('button', { name: `Like ${name}-second: 0` }).click()
  await page.getByRole('button', { name: `Like ${name}-second: 1` }).waitFor()
  await grid.focus()
  await page.keyboard.press('j')
  const opened = await grid.getByRole('row').nth(1).getByRole('link').first().innerText()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: opened, level: 1, exact: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isNight)('more prompts and versions than a page of the API are all there', async () => {
  await Promise.all(
    Array.from({ length: 130 }, (_, at) => make(`${many}-${String(at).padStart(3, '0')}`)),
  )
  await make(many)
  for (let at = 0; at < 102; at++) await commit(many, chatManifest('Be kind.', `Say ${at}.`))
  const tab = await browser.open(`${server.url}/studio/prompts?q=${many}`, {
    expected: /status of 404/,
  })
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Prompts' })
  await page.getByText('131 prompts', { exact: true }).waitFor()
  // A page that cannot be read is asked for again only by who reads.
  let [isAway, refused] = [true, 0]
  await page.route('**/api/v1/repos?*offset=100*', (route) => {
    if (!isAway) return route.continue()
    refused++
    return route.fulfill({ status: 404, json: { detail: 'Not now.' } })
  })
  await page.reload()
  await grid.focus()
  await page.keyboard.press('End')
  await page.getByText('Not now.').waitFor()
  await page.getByRole('searchbox').fill(`${many}-00`)
  await page.getByText('10 prompts', { exact: true }).waitFor()
  expect(refused).toBe(1)
  isAway = false
  await page.goto(`${server.url}/studio/prompts?q=${many}`)
  await grid.focus()
  await page.keyboard.press('End')
  await grid.getByRole('row').last().getByRole('link').first().waitFor()
  expect(await grid.getByRole('row').count()).toBeLessThan(60)
  await page.goto(`${server.url}/studio/prompts/${many}`)
  await page.getByRole('button', { name: 'Older versions' }).click()
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('link')
  await expect.poll(() => versions.count()).toBe(102)
  await versions.last().click()
  await page.reload()
  await expect.poll(() => page.getByLabel('Message 2', { exact: true }).inputValue())
    .toBe('Say 0.')
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isNight)('looks good by day and by night, wide and on a phone, whatever is written',
  async () => {
    const long = `long-${stamp}-${'name'.repeat(15)}`
    await make(long, { description: `ماذا يقول ${'something '.repeat(40)}`,
      tags: ['x'.repeat(40)] })
    await commit(long, chatManifest('مرحبا', `${'A long line. '.repeat(80)}{${'v'.repeat(60)}}`))
    await expectGoodLooks(browser, `${server.url}/studio/prompts?q=${long}`,
      ({ page }) => page.getByText('1 prompt', { exact: true }).waitFor())
    await expectGoodLooks(browser, `${server.url}/studio/prompts/${long}?view=json`,
      ({ page }) => page.getByRole('tree', { name: 'manifest' }).waitFor())
    await expectGoodLooks(browser, `${server.url}/studio/prompts/${long}`, async ({ page }) => {
      await page.getByLabel('Message 2', { exact: true }).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    })
  })

it('a prompt without versions, one that is not there, and one with places say what they are',
  async () => {
    const [empty, placed] = [`empty-${stamp}`, `placed-${stamp}`]
    await make(empty)
    await make(placed)
    await commit(placed, chatManifest('Be kind.', 'Hi', [placeholder('history')]))
    const tab = await browser.open(`${server.url}/studio/prompts/${empty}`, { expected: /of 404/ })
    const { page } = tab
    await page.getByText('No version yet').waitFor()
    await page.goto(`${server.url}/studio/prompts/none-${stamp}`)
    await page.getByRole('alert').waitFor()
    await page.goto(`${server.url}/studio/prompts/${name}?at=${'0'.repeat(64)}`)
    await page.getByText('This prompt has no such version.').waitFor()
    await page.goto(`${server.url}/studio/prompts/${placed}`)
    await page.getByRole('tree', { name: 'manifest' }).waitFor()
    expectQuiet(tab)
    await tab.close()
  })

it('errors stand where they happened, and readers may only read', async () => {
  const tab = await browser.open(`${server.url}/ok`, { expected: /status of/ })
  const { page } = tab
  let status = 500
  const ill = /\/api\/v1\/(repos|commits)/
  await page.route(ill,
    (route) => route.fulfill({ status, json: { detail: `Weather ${status}.` } }))
  for (status of [500, 403]) {
    for (const path of ['prompts', `prompts/${name}`, `playground?prompt=${name}`]) {
      await page.goto(`${server.url}/studio/${path}`)
      await page.getByRole('alert').getByText(`Weather ${status}.`).first().waitFor()
    }
    if (status === 500) {
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBeGreaterThan(0)
      expect(await tab.violations()).toEqual([])
    }
  }
  await page.unroute(ill)
  await asReader(page)
  await page.goto(`${server.url}/studio/prompts/${name}`)
  await page.getByRole('button', { name: 'Make public' }).and(page.locator(':disabled')).waitFor()
  const like = page.getByRole('button', { name: `Like ${name}` })
  await expect.poll(() => like.getAttribute('title')).toContain('key')
  expect(await page.getByLabel('Message 1', { exact: true }).isEditable()).toBe(false)
  expectQuiet(tab)
  await tab.close()
})
