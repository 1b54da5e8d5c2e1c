/** The screens of the starter's graph `desk`, as a newcomer finds them: by what they are called. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'

import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'

/** A server of the starter for a test file. Its graphs answer offline, and always the same. */
export function useStarter(args: readonly string[] = []): { readonly url: string } {
  let server: ServerProcess
  beforeAll(async () => {
    server = await startServer({ args: [...oneWorker, ...args],
      env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' } })
  })
  afterAll(() => server?.close())
  return {
    get url() {
      return server.url
    },
  }
}

/** The parts of a thread of the graph `desk`. */
export function deskOn(page: Page) {
  const chat = page.getByRole('log', { name: 'Conversation' })
  const graph = page.getByRole('region', { name: 'Graph of the assistant' })
  const line = page.getByRole('grid', { name: /^Time line/ })
  const question = page.getByRole('article', { name: 'Publish this draft to readers?' })
  return {
    composer: page.getByRole('textbox', { name: 'Message' }),
    chat,
    question,
    line,
    /** A node of the picture, by its name and its state. */
    node: (name: RegExp) => graph.getByRole('button', { name }),
    /** A step of the time line, by its words. */
    step: (name: RegExp) => line.getByRole('row', { name }),
    /** Makes a thread for `desk`, and asks. Resolves when it waits for an answer. */
    async ask(url: string, words: string): Promise<void> {
      await page.goto(url)
      await page.getByRole('button', { name: 'New thread' }).first().click()
      await page.getByRole('dialog').getByRole('button', { name: /^desk/ }).click()
      await page.getByRole('textbox', { name: 'Message' }).fill(words)
      await page.keyboard.press('Enter')
      await question.waitFor()
    },
  }
}
