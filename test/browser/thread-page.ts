/** The page in a real browser: what it shows, and what a person does there. */

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromium } from 'playwright-core'

import { chromiumPath } from '../support/chromium.ts'

/** Without the browser, tests of the page are skipped. */
export const hasBrowser = chromiumPath !== undefined

/** Where the page looks. */
export interface PlaceOfPage {
  /** Of the built page. */
  readonly page: string
  readonly server: string
  readonly assistant: string
  readonly transport: 'sse' | 'websocket'
  readonly thread?: string
  /** The key of the input that gets the text; messages if there is none. */
  readonly key?: string
}

/** Starts a browser without a window. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
}

/** Runs in the page, before the page's own program. */
const noteMessages = `
  globalThis.shownMessages = []
  new MutationObserver(() => {
    const items = document.querySelectorAll('[aria-label=messages] li')
    shownMessages.push(Array.from(items, ({ innerText }) => innerText))
  }).observe(document, { subtree: true, childList: true, characterData: true })
`

/** One tab. */
export class ThreadPage {
  readonly #page: Page
  /** What the browser complained of, in the page's console or as an uncaught error. */
  readonly complaints: string[] = []
  /** Methods of the commands that were sent. A stream over SSE stands for its subscription. */
  readonly commands: string[] = []

  private constructor(page: Page) {
    this.#page = page
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('request', (request) => {
      if (request.method() !== 'POST') return
      const { pathname } = new URL(request.url())
      if (pathname.endsWith('/commands')) this.#sent(request.postData())
      if (pathname.endsWith('/stream/events')) this.commands.push('subscription.subscribe')
    })
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => this.#sent(String(payload)))
    })
  }

  static async open(context: BrowserContext, place: PlaceOfPage): Promise<ThreadPage> {
    const { page: url, ...rest } = place
    const page = new ThreadPage(await context.newPage())
    await page.#page.addInitScript(noteMessages)
    await page.#page.goto(`${url}?${new URLSearchParams(rest)}`)
    return page
  }

  /** Presses a button, with a text in the field before it. */
  async press(button: string, text?: string): Promise<void> {
    if (text !== undefined) await this.#page.getByLabel('text', { exact: true }).fill(text)
    await this.#page.getByRole('button', { name: button, exact: true }).click()
  }

  /** What a field shows. */
  field(name: 'thread' | 'state' | 'error' | 'values' | 'subgraphs' | 'tools'): Promise<string> {
    return this.#page.getByLabel(name, { exact: true }).innerText()
  }

  /** What a button's call threw; empty if it threw nothing. */
  async fault(button: string): Promise<string> {
    const shown = this.#page.getByLabel(`${button} failed`, { exact: true })
    return await shown.count() === 0 ? '' : shown.innerText()
  }

  /** `type: text` of each message. */
  messages(): Promise<string[]> {
    return this.#page.getByLabel('messages', { exact: true }).locator('li').allInnerTexts()
  }

  /** The messages as they were after each change that the page has shown since it was opened. */
  shownMessages(): Promise<string[][]> {
    return this.#page.evaluate<string[][]>('shownMessages')
  }

  /** What the graph asks, as JSON. */
  questions(): Promise<string[]> {
    return this.#page.getByLabel('questions', { exact: true }).locator('li').allInnerTexts()
  }

  #sent(command: string | null): void {
    this.commands.push((JSON.parse(command ?? '{}') as { method?: string }).method ?? '')
  }

  async reload(thread: string): Promise<void> {
    const url = new URL(this.#page.url())
    url.searchParams.set('thread', thread)
    await this.#page.goto(url.href)
  }

  close(): Promise<void> {
    return this.#page.close()
  }
}
