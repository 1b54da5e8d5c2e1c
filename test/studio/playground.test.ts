/** The playground in the Studio: models of customers answer beside each other, as they come. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { openModel } from '../support/model-server.ts'
import type { ModelServer } from '../support/model-server.ts'
import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { chatManifest, placeholder } from './support/chat-manifest.ts'
import { expectGoodLooks } from './support/looks.ts'
import { asReader } from './support/changed-answer.ts'
import { projectId, sendSpans, spanOf } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const keyFile = join(mkdtempSync(join(tmpdir(), 'heddle-secrets-')), 'key')
writeFileSync(keyFile, randomBytes(32))

const server = useServer({
  args: ['--secrets-key', keyFile, '--egress-allow', '127.0.0.1', '--hub-handle', 'acme',
    '--workers', '1'],
})
const browser = useBrowser()
const key = `sk-${randomBytes(24).toString('hex')}`

let model: ModelServer
const send = async <Answer = unknown>(method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await ask(server.url, method, `/api/v1${path}`, body)
  expect(status, JSON.stringify(answer)).toBeLessThan(300)
  return answer as Answer
}

beforeAll(async () => {
  model = await openModel()
  await send('POST', '/playground-settings', { name: 'small', is_default: true, settings: {
    dialect: 'openai',
    base_url: `${model.url}v1`,
    model: 'small-1',
  } })
})
afterAll(() => model.close())

const column = (page: Page, number: number) =>
  page.getByRole('region', { name: `Model ${number}`, exact: true })
const answerOf = (page: Page, number: number) =>
  page.getByRole('region', { name: `Answer of Model ${number}` })
const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true })

/** Fills the fields of an endpoint in a column. */
async function name(page: Page, number: number, dialect: string, secret = ''): Promise<void> {
  const at = column(page, number)
  await at.getByLabel('Model', { exact: true }).selectOption('endpoint')
  await at.getByLabel('Provider').selectOption(dialect)
  await at.getByLabel('URL').fill(`${model.url}v1`)
  await at.getByLabel('Name of the model').fill(`large-${dialect}`)
  await at.getByLabel('Temperature').fill('0.5')
  await at.getByLabel('Secret').fill(secret)
}

it('two models answer at once, word by word, and their columns are in the address', async () => {
  const gate = Promise.withResolvers<void>()
  model.does({ pieces: ['Hel', 'lo.'], between: () => gate.promise })
  const tab = await browser.open(`${server.url}/studio/playground`)
  const { page } = tab
  await page.getByLabel('Message 1', { exact: true }).fill('Say {what}.')
  await page.getByLabel('what', { exact: true }).fill('hello')
  await page.getByRole('button', { name: 'Add a model' }).click()
  await name(page, 2, 'anthropic')
  await run(page).click()
  for (const number of [1, 2]) {
    await answerOf(page, number).getByText('Hel', { exact: true }).waitFor()
    await column(page, number).getByText('Answering …').waitFor()
  }
  gate.resolve()
  for (const number of [1, 2]) {
    await answerOf(page, number).getByText('Hello.', { exact: true }).waitFor()
    await column(page, number).getByText(/ · 19 tokens$/).waitFor()
  }
  expect(await tab.violations()).toEqual([])
  expect(model.asked.map((asked) => [asked['model'], asked['temperature']]).toSorted())
    .toEqual([['large-anthropic', 0.5], ['small-1', undefined]])
  for (const { messages } of model.asked as unknown as readonly { messages: unknown }[]) {
    expect(JSON.stringify(messages)).toContain('Say hello.')
  }
  await page.reload()
  await expect.poll(() => column(page, 2).getByLabel('Name of the model').inputValue())
    .toBe('large-anthropic')
  await column(page, 2).getByLabel('Save as').fill('large')
  await column(page, 2).getByRole('button', { name: 'Save', exact: true }).click()
  const choice = column(page, 2).getByLabel('Model', { exact: true })
  await expect.poll(() => choice.inputValue()).toBe('kept:large')
  await page.getByRole('button', { name: 'Remove Model 1' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('models'))
    .toBe('[{"saved":"large"}]')
  expectQuiet(tab)
  await tab.close()
})

it('an answer is stopped, and its call is cut', async () => {
  const cut = Promise.withResolvers<void>()
  model.does({ pieces: [], instead: (_, response) => {
    response.once('close', cut.resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"choices":[{"delta":{"content":"So far"}}]}\n\n')
  } })
  const tab = await browser.open(`${server.url}/studio/playground`)
  const { page } = tab
  await run(page).and(page.locator(':enabled')).waitFor()
  await page.getByLabel('Message 1', { exact: true }).fill('Go on.')
  await page.keyboard.press('ControlOrMeta+Enter')
  await answerOf(page, 1).getByText('So far').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await column(page, 1).getByText('Stopped').waitFor()
  await cut.promise
  await answerOf(page, 1).getByText('So far').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('a missing key is named, brought along or stored, never in the address', async () => {
  model.does({ pieces: ['Yes'] })
  const tab = await browser.open(`${server.url}/studio/playground`, { expected: /of 4/ })
  const { page } = tab
  await page.getByLabel('Message 1', { exact: true }).fill('Is it there?')
  await name(page, 1, 'openai', 'MY_KEY')
  await run(page).click()
  await page.getByRole('alert').getByText('The workspace has no secret MY_KEY').waitFor()
  expect(await tab.violations()).toEqual([])
  const value = page.getByLabel('Its value')
  await value.fill(key)
  await run(page).click()
  await answerOf(page, 1).getByText('Yes', { exact: true }).waitFor()
  expect(model.received.at(-1)!.headers.authorization).toBe(`Bearer ${key}`)
  expect(await send('GET', '/workspaces/current/secrets')).toEqual([])
  await page.getByRole('button', { name: 'Store it in the workspace' }).click()
  await value.waitFor({ state: 'detached' })
  expect(await send('GET', '/workspaces/current/secrets')).toEqual([{ key: 'MY_KEY' }])
  expect(page.url()).not.toContain(key)
  await page.reload()
  await page.getByLabel('Message 1', { exact: true }).fill('Is it there?')
  await run(page).click()
  await answerOf(page, 1).getByText('Yes', { exact: true }).waitFor()
  expect(model.received.at(-1)!.headers.authorization).toBe(`Bearer ${key}`)

  model.does({ pieces: [],
    instead: (_, response) =>
      response.writeHead(404).end('{"error":{"message":"No model of this name."}}') })
  await run(page).click()
  await page.getByRole('alert').getByText('answered 404: No model of this name.').waitFor()
  await page.goto(`${server.url}/studio/playground?models=[{"saved":"gone"}]`)
  await run(page).click()
  await page.getByRole('alert').getByText('There is no model gone in this workspace.').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('an answer becomes an example, its call a prompt, and the prompt is public', async () => {
  const [prompt, dataset] = ['greeting', 'greetings'].map((word) => `${word}-${Date.now()}`)
  model.does({ pieces: ['{Good day}'] })
  const tab = await browser.open(`${server.url}/studio/playground`, { expected: /of 4/ })
  const { page } = tab
  await page.getByLabel('Message 1', { exact: true }).fill('Greet {who} with {{braces}}.')
  await page.getByLabel('who', { exact: true }).fill('Ada')
  await run(page).click()
  await column(page, 1).getByRole('button', { name: 'Add to dataset' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add to dataset' })
  await dialog.getByLabel('Name').fill(dataset!)
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('The example was added.').waitFor()
  const [{ id }] = await send<[{ id: string }]>('GET', `/datasets?name=${dataset}`)
  expect(await send('GET', `/examples?dataset=${id}`))
    .toMatchObject([{ inputs: { who: 'Ada' }, outputs: { output: '{Good day}' } }])
  await dialog.getByRole('button', { name: 'Close' }).first().click()

  await page.getByLabel('Name of the prompt').fill(prompt!)
  await page.getByRole('button', { name: 'Save as a version' }).click()
  await page.getByRole('link', { name: prompt! }).waitFor()
  await column(page, 1).getByRole('link', { name: 'Trace' }).click()
  await page.getByRole('link', { name: 'Open in playground' }).click()
  const words = page.getByLabel('Message 1', { exact: true })
  await expect.poll(() => words.inputValue()).toBe('Greet Ada with {{braces}}.')
  const choice = column(page, 1).getByLabel('Model', { exact: true })
  await expect.poll(() => choice.inputValue()).toBe('kept:small')
  await run(page).click()
  await answerOf(page, 1).getByText('{Good day}').waitFor()
  expect(JSON.stringify(model.asked.at(-1)!['messages'])).toContain('Greet Ada with {braces}.')
  await page.getByRole('link', { name: 'Back to the trace' }).click()

  await page.goto(`${server.url}/studio/prompts/${prompt}`)
  await page.getByRole('button', { name: 'Make public' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make public' }).click()
  await page.getByText(`acme/${prompt}`, { exact: true }).waitFor()
  expect(await send('GET', `/commits/acme/${prompt}/latest`)).toBeTruthy()
  await page.getByRole('button', { name: 'Make private' }).click()
  await page.getByText('private', { exact: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('a version that others followed meanwhile is saved on top of theirs, if that is meant',
  async () => {
    const prompt = `stale-${Date.now()}`
    await send('POST', '/repos', { repo_handle: prompt, is_public: false })
    const commit = (words: string) =>
      send('POST', `/commits/-/${prompt}`, { manifest: chatManifest('Be kind.', words) })
    await commit('One.')
    const tab = await browser.open(`${server.url}/studio/playground?prompt=${prompt}`, {
      expected: /of 409/,
    })
    const { page } = tab
    await page.getByLabel('Message 2', { exact: true }).fill('Two.')
    const save = page.getByRole('button', { name: 'Save as a version' })
    await save.click()
    await page.getByRole('link', { name: prompt }).waitFor()
    await commit('Three.')
    await page.getByLabel('Message 2', { exact: true }).fill('Four.')
    await save.click()
    await page.getByRole('alert').getByText(/^The newest commit is/).waitFor()
    await page.getByRole('button', { name: 'Save on top of it' }).click()
    await page.getByRole('link', { name: prompt }).waitFor()
    expect(JSON.stringify(await send('GET', `/commits/-/${prompt}/latest`))).toContain('Four.')
    expectQuiet(tab)
    await tab.close()
  })

it('calls of clients and prompts with places are asked again, as far as they can be', async () => {
  const [project, prompt] = ['calls', 'placed'].map((word) => `${word}-${Date.now()}`)
  const call = spanOf({ project: project!, beganMs: Date.now() - 5_000, name: 'ChatOpenAI',
    run_type: 'llm',
    extra: { metadata: { ls_provider: 'openai', ls_model_name: 'other-3', ls_temperature: 0.2 } },
    inputs: { messages: [[{ role: 'system', content: 'Be brief.' }, {
      role: 'user',
      content: 'Which?',
    }, { role: 'tool', content: '{"a": 1}' }]] } })
  await sendSpans(server.url, [call])
  const id = await projectId(server.url, project!)
  const tab = await browser.open(
    `${server.url}/studio/traces/${id}/${call.trace_id}`,
  )
  const { page } = tab
  await page.getByRole('link', { name: 'Open in playground' }).click()
  await page.getByText('1 message of tools, or without words, had to be left out.').waitFor()
  await expect.poll(() => column(page, 1).getByLabel('Name of the model').inputValue()).toBe(
    'other-3',
  )
  await expect.poll(() => page.getByLabel('Message 2', { exact: true }).inputValue()).toBe('Which?')

  model.does({ pieces: ['Fine'] })
  await send('POST', '/repos', { repo_handle: prompt, is_public: false })
  await send('POST', `/commits/-/${prompt}`, { manifest: chatManifest('Be kind.', 'Hi', [
    placeholder('history'),
  ]) })
  await page.goto(`${server.url}/studio/playground?prompt=${prompt}`)
  await page.getByLabel('history', { exact: true }).fill('[["user", "And then?"]]')
  await run(page).click()
  await answerOf(page, 1).getByText('Fine').waitFor()
  expect(JSON.stringify(model.asked.at(-1)!['messages'])).toContain('And then?')
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isNight)('looks good by day and by night, wide and on a phone; readers may not ask',
  async () => {
    const endpoint = { dialect: 'openai', base_url: 'https://models.example/v1',
      model: 'long-'.repeat(30), secret: 'NO_SUCH_KEY' }
    const models = encodeURIComponent(JSON.stringify(['default', endpoint, endpoint, endpoint]))
    await expectGoodLooks(browser, `${server.url}/studio/playground?models=${models}`,
      async ({ page }) => {
        await page.getByLabel('Message 1', { exact: true }).fill(
          `${'word '.repeat(99)}{${'v'.repeat(80)}}`,
        )
        await column(page, 4).getByLabel('Its value').waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      })
    const tab = await browser.open(`${server.url}/ok`, { expected: /of 404/ })
    await asReader(tab.page)
    await tab.page.goto(`${server.url}/studio/playground`)
    await run(tab.page).and(tab.page.locator('[title*="key"]:disabled')).waitFor()
    expectQuiet(tab)
    await tab.close()
  })

it('tools, a schema and images go along, and their mistakes are said in words', async () => {
  const tab = await browser.open(`${server.url}/studio/playground`)
  const { page } = tab
  await page.getByLabel('Message 1', { exact: true }).fill('What is on it?')
  await page.getByText('Images', { exact: true }).first().click()
  const files = page.getByLabel('Images', { exact: true })
  await files.setInputFiles({ name: 'large.png', mimeType: 'image/png',
    buffer: Buffer.alloc(3_000_001) })
  await page.getByText('large.png is too large: all images may have 3 MB together').waitFor()
  const dot =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ' +
    'RU5ErkJggg=='
  await files.setInputFiles({ name: 'dot.png', mimeType: 'image/png',
    buffer: Buffer.from(dot, 'base64') })
  await page.getByRole('img', { name: 'dot.png' }).waitFor()
  await page.getByText('Tools', { exact: true }).first().click()
  const tools = page.getByLabel('Tools', { exact: true })
  await tools.fill('{"name": "two words"}')
  await page.getByText('Tool 1: its name has').waitFor()
  expect(await run(page).isDisabled()).toBe(true)
  await tools.fill('[{"name": "look_up", "parameters": {"type": "object"}}]')
  model.does({ pieces: [], instead: (_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    const call = { index: 0, function: { name: 'look_up', arguments: '{"city":"Ulm"}' } }
    for (const choice of [{ delta: { tool_calls: [call] } }, { delta: {},
      finish_reason: 'tool_calls' }]) {
      response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  } })
  // A model without a name is not asked at all.
  await column(page, 1).getByLabel('Model', { exact: true }).selectOption('endpoint')
  expect(await run(page).getAttribute('title')).toBe('Give the name of the model')
  await column(page, 1).getByLabel('Model', { exact: true }).selectOption('default')
  await run(page).click()
  const calls = page.getByRole('list', { name: 'Tools that Model 1 wants called' })
  await calls.getByText('look_up').waitFor()
  await calls.getByText('"city": "Ulm"').waitFor()
  const asked = JSON.stringify(model.asked.at(-1))
  expect(asked).toContain(`data:image/png;base64,${dot}`)
  expect(asked).toContain('"look_up"')
  await tools.fill('')
  await page.getByText('Output schema', { exact: true }).first().click()
  await page.getByLabel('Output schema', { exact: true })
    .fill('{"type": "object", "properties": {"ok": {"type": "boolean"}}}')
  await page.getByRole('button', { name: 'Remove dot.png' }).click()
  model.does({ pieces: ['{"ok":', 'true}'] })
  await run(page).click()
  await answerOf(page, 1).getByText('{"ok":true}').waitFor()
  expect(JSON.stringify(model.asked.at(-1))).toContain('json_schema')
  expect(JSON.stringify(model.asked.at(-1))).not.toContain('image_url')
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})
