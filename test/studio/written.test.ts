/** Texts that models and people write: their code, formulas and headings; none is altered. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

// Its own, since others wait in the inbox of the shared one.
const server = useServer({ args: oneWorker })
const browser = useBrowser()

/** A thread with an answer. */
async function threadWith(content: string): Promise<string> {
  const answer = await fetch(`${server.url}/threads`, { method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { graph_id: 'echo' }, supersteps: [{
      updates: [{ values: { messages: [{ role: 'ai', content }] }, as_node: 'echo' }],
    }] }) })
  const { thread_id: id } = await answer.json() as { thread_id: string }
  return `${server.url}/studio/threads/${id}`
}

const message = (page: Page) => page.getByRole('article').first()

const fontPx = (page: Page, name: string) =>
  message(page).getByRole('heading', { name }).evaluate((element) =>
    parseFloat((globalThis as unknown as Styles).getComputedStyle(element).fontSize)
  )

interface Styles {
  getComputedStyle(element: unknown): { readonly fontSize: string; readonly color: string }
}

const rich = `# First\n\n## Second\n\n### Third\n
\`\`\`ts\nconst total = 12 // all of it\n\`\`\`\n
$$\\sum_{i=1}^n \\frac{i}{2}$$\n\nThe sum $x^2$ for $5 and $10.`

for (const look of [{ colours: 'light', width: 1_440 }, { colours: 'dark', width: 1_024 }, {
  colours: 'light',
  width: 390,
}] as const) {
  it(`have colours, formulas and sizes at ${look.width} pixels`, async () => {
    const tab = await browser.open(await threadWith(rich), { ...look, height: 900 })
    const { page } = tab
    const code = message(page).getByRole('group', { name: 'Code' })
    await code.locator('span').getByText('const', { exact: true }).waitFor()
    expect(await code.innerText()).toBe('const total = 12 // all of it')
    const colours = await code.locator('span').evaluateAll((spans) =>
      spans.map((each) => (globalThis as unknown as Styles).getComputedStyle(each).color)
    )
    expect(new Set(colours).size).toBe(3)
    await message(page).locator('math').nth(1).waitFor()
    expect(await message(page).locator('math munderover').count()).toBe(1)
    expect(await message(page).locator('math msup').textContent()).toBe('x2')
    expect(await message(page).getByText('for $5 and $10.').count()).toBe(1)
    const sizes = [await fontPx(page, 'First'), await fontPx(page, 'Second'),
      await fontPx(page, 'Third')]
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
    expect(new Set(sizes).size).toBe(3)
    expect(await tab.violations()).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(look.width)
    expectQuiet(tab)
    await tab.close()
  })
}

it('fetch what sets code and formulas only where there are any', async () => {
  const tab = await browser.open(`${server.url}/ok`, { expected: /status of 404/ })
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(await threadWith('plain words, `a_b`, $5 and $10'))
  await message(page).getByText('plain words').waitFor()
  await message(page).locator('code').waitFor()
  expect(asked.filter((url) => /\/(tex|code-words)-/.test(url))).toEqual([])
  await page.goto(await threadWith(rich))
  await message(page).locator('math').first().waitFor()
  await expect.poll(() => asked.filter((url) => /\/(tex|code-words)-/.test(url)).length).toBe(2)
  expectQuiet(tab)
  await tab.close()
})

it('that are hostile stay text', async () => {
  const hostile = '<img src=x onerror=alert(1)>'
  const tab = await browser.open(await threadWith(
    `\`\`\`html\n${hostile}<script>alert(2)</script>\n\`\`\`\n\n$\\text{${hostile}}$\n\n` +
      `$\\href{javascript:alert(3)}{x}$\n\n# ${hostile}`,
  ))
  const { page } = tab
  const code = message(page).getByRole('group', { name: 'Code' })
  await code.locator('span').first().waitFor()
  expect(await code.innerText()).toBe(`${hostile}<script>alert(2)</script>`)
  await message(page).locator('math mtext').getByText(hostile).waitFor()
  await message(page).getByText('\\href{javascript:alert(3)}{x}').waitFor()
  expect(await message(page).locator('img, script, math a, [onerror]').count()).toBe(0)
  expectQuiet(tab)
  await tab.close()
})

it('keep their signs in lists, and have Markdown where people decide', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'ask' })
  await server.client.runs.wait(id, 'ask', { input: {
    question: 'Use **my_tool|a*b** > `snake_case_x`?',
  } })
  const tab = await browser.open(`${server.url}/studio/inbox`)
  const { page } = tab
  await page.getByRole('gridcell').getByText('Use **my_tool|a*b** > `snake_case_x`?').waitFor()
  const title = page.getByRole('heading', { name: 'Use my_tool|a*b > snake_case_x?' })
  await title.waitFor()
  expect(await title.locator('strong').innerText()).toBe('my_tool|a*b')
  expect(await title.locator('code').innerText()).toBe('snake_case_x')
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})
