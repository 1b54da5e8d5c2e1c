/** The first minute of a newcomer: from `/` to a fork that is compared, by mouse and by keys. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { deskOn, useStarter } from './support/desk.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const starter = useStarter()
const browser = useBrowser()

/** What has the focus, as a screen reader says it. After a dialog nothing may have it: ''. */
async function focused(page: Page): Promise<string> {
  const place = page.locator(':focus')
  if (await place.count() === 0) return ''
  const [line = ''] = (await place.ariaSnapshot()).split('\n')
  return line
}

/** Presses Tab until what has the focus is called so. */
async function tabTo(page: Page, name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press(key)
    if (name.test(await focused(page))) return
  }
  throw new Error(`${key} leads to nothing that is called ${name}.`)
}

it('asks, watches the graph, answers, goes back, forks and compares', async () => {
  const tab = await browser.open(`${starter.url}/`)
  const { page } = tab
  const { composer, chat, question, node, step, line } = deskOn(page)
  await page.getByRole('heading', { name: 'Threads', exact: true }).waitFor()
  await page.getByRole('button', { name: 'New thread' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: /^desk/ }).click()
  await node(/^triage: Idle/).waitFor()

  await composer.fill('Who invented the heddle?')
  await page.getByRole('button', { name: 'Send' }).click()
  await node(/: Running/).first().waitFor()
  await question.waitFor()
  await node(/^write.*: Done/).waitFor()
  await node(/^review.*: Waiting/).waitFor()
  await page.getByRole('heading', { name: 'Who invented the heddle?', level: 1 }).waitFor()

  await question.getByRole('textbox', { name: 'Title' }).fill('The first heddle')
  await question.getByRole('combobox', { name: 'Channel' }).selectOption('newsletter')
  await question.getByRole('button', { name: 'Approve with changes' }).click()
  await question.getByRole('button', { name: 'Send now' }).click()
  await chat.getByText('Published "The first heddle" (newsletter, now).').waitFor()
  await node(/^publish.*: Done/).waitFor()

  await step(/^write/).click()
  await page.getByText('What you send now starts a branch here.').waitFor()
  await chat.getByText('Published').waitFor({ state: 'detached' })
  await composer.fill('And who wove first?')
  await page.getByRole('button', { name: 'Send' }).click()
  await chat.getByText('And who wove first?', { exact: true }).waitFor()
  await question.waitFor()
  await chat.getByText('Published').waitFor({ state: 'detached' })

  await step(/^publish/).click()
  await chat.getByText('Published "The first heddle"').waitFor()
  await step(/^write/).first().hover()
  await step(/^write/).first().getByRole('button', { name: /^Compare step/ }).click()
  await page.getByRole('tree', { name: 'Changes' }).getByText('And who wove first').first()
    .waitFor()
  await page.getByText(/\d added/).waitFor()
  await expect.poll(() => line.getByRole('row', { selected: true }).count()).toBe(1)
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isNight)('does the same by keys alone', async () => {
  const tab = await browser.open(`${starter.url}/`)
  const { page } = tab
  const { chat, question, step, node } = deskOn(page)
  const { keyboard } = page
  await page.getByRole('heading', { name: 'Threads', exact: true }).waitFor()
  await tabTo(page, /button "New thread"/)
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(page, /button "desk/)
  await keyboard.press('Enter')
  await node(/^triage: Idle/).waitFor()

  await expect.poll(() => focused(page)).toMatch(/textbox "Message"/)
  await keyboard.type('Who invented the heddle?')
  await keyboard.press('Enter')
  await question.waitFor()
  await tabTo(page, /textbox "Title"/, 'Shift+Tab')
  await keyboard.press('ControlOrMeta+a')
  await keyboard.type('The first heddle')
  await tabTo(page, /combobox "Channel"/)
  await keyboard.press('n')
  await tabTo(page, /button "Approve with changes"/)
  await keyboard.press('Enter')
  await tabTo(page, /button "Send now"/)
  await keyboard.press('Enter')
  await chat.getByText('Published "The first heddle" (newsletter, now).').waitFor()

  // What is gone to is the step below the newest one.
  await step(/^publish/).waitFor()
  await tabTo(page, /grid "Time line/, 'Shift+Tab')
  for (const name of [/^review/, /^write/]) {
    await keyboard.press(name.source === '^review' ? 'j' : 'ArrowDown')
    await step(name).and(page.getByRole('row', { selected: true })).waitFor()
  }
  await keyboard.press('f')
  await expect.poll(() => focused(page)).toMatch(/textbox "Message"/)
  await keyboard.type('And who wove first?')
  await keyboard.press('Enter')
  await chat.getByText('And who wove first?', { exact: true }).waitFor()
  await question.waitFor()

  await tabTo(page, /grid "Time line/, 'Shift+Tab')
  await keyboard.press('j')
  await page.getByText('What you send now starts a branch here.').waitFor()
  await keyboard.press('j')
  await keyboard.press('c')
  await page.getByRole('tree', { name: 'Changes' }).waitFor()
  await page.getByText(/\d (added|removed|changed)/).waitFor()
  await keyboard.press('n')
  await page.getByRole('treeitem', { selected: true }).waitFor()
  await keyboard.press('Escape')
  await expect.poll(() => new URL(page.url()).search).not.toMatch(/at=|vs=/)
  expectQuiet(tab)
  await tab.close()
})
