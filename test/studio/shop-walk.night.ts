/**
 * A shop as its owner lives with it: a charge and a mail, a crash in between, the question in the
 * inbox, a changed prompt, the replay that says what it changes, and the deploy that refuses.
 */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { deployedProject } from '../e2e/deploy/deployed-project.ts'
import type { DeployedProject } from '../e2e/deploy/deployed-project.ts'
import { DeployTarget } from '../e2e/deploy/deploy-target.ts'
import { heddleProcessIn } from '../support/command.ts'
import { eventually } from '../support/eventually.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { setup as buildStudio } from './support/setup.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

/** Processes load the engine several times, which takes minutes on a busy machine. */
const patienceMs = 480_000

const browser = useBrowser()
let project: DeployedProject
let server: ServerProcess
let shop: DeployTarget
/** The model, the bank and the mail server. */
let world: Receiver
let isMailServerSilent = true
beforeAll(async () => {
  await buildStudio()
  world = await openReceiver(({ path }, response) => {
    if (path === '/mail' && isMailServerSilent) return
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ text: 'One chair, 80 EUR.' }))
  })
  const { url } = world
  ;[project, server] = await Promise.all([
    deployedProject({ 'langgraph.json': JSON.stringify({
      graphs: { agent: './agent.ts:agent' },
      heddle: { effects: [
        { match: `POST ${url}model`, keep: 'answer' },
        { match: `POST ${url}charge`, once: 'key' },
        { match: `POST ${url}mail`, once: 'ask' },
      ] },
    }) }),
    startServer({ args: oneWorker }),
  ])
  shop = new DeployTarget(server.url, 'shop')
}, patienceMs)
afterAll(async () => {
  await server?.close()
  await project?.remove()
  await world?.close()
})

const agent = (prompt: string) =>
  `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'

async function post(path, body) {
  const answer = await fetch('${world.url}' + path, { method: 'POST', body: JSON.stringify(body) })
  return (await answer.json()).text
}
const said = (content) => ({ messages: [{ role: 'ai', content }] })
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('offer', async ({ messages }) =>
    said(await post('model', { prompt: '${prompt}', asked: messages.at(-1).content })))
  .addNode('pay', async ({ messages }) => (await post('charge', { for: messages.at(-1).content }),
    said('Paid.')))
  .addNode('mail', async () => (await post('mail', { text: 'Thank you.' }), said('Mail sent.')))
  .addEdge('__start__', 'offer').addEdge('offer', 'pay').addEdge('pay', 'mail').compile()
`

const deploy = (...more: readonly string[]) =>
  heddleProcessIn({ INIT_CWD: project.folder, npm_lifecycle_event: 'heddle',
    HEDDLE_URL: server.url }, 'deploy', 'shop', '--no-watch', '--yes', ...more)

const asked = (path: string) => world.received.filter((each) => each.path === path)

it('asks what is not known, and says what a change would do', async () => {
  await project.write({ 'agent.ts': agent('Sell in short.') })
  expect(await deploy('--record', 'all')).toMatchObject({ status: 0 })

  const threads = `${server.url}/studio/d/shop/threads`
  const tab = await browser.open(threads, {
    // The browser itself says that the server was away.
    expected: /ERR_|net::|Failed to load resource/,
  })
  const { page } = tab
  const chat = page.getByRole('log')
  const order = async (text: string) => {
    await page.goto(threads)
    await page.getByRole('button', { name: 'New thread' }).first().click()
    const box = page.getByRole('textbox', { name: 'Message' })
    await box.fill(text)
    await box.press('Enter')
  }
  await order('A chair, please.')
  await eventually(() => expect(asked('/mail')).toHaveLength(1))
  await server.kill('SIGKILL')
  isMailServerSilent = false
  await server.restart()

  // Nobody knows whether the mail has left: the page comes back, and asks.
  await page.getByRole('article', { name: /^It is not known whether the effect/ }).waitFor()
  await page.goto(`${server.url}/studio/d/shop/inbox`)
  const card = page.getByRole('article', { name: /^It is not known whether the effect/ })
  await card.getByRole('button', { name: 'It was done', exact: true }).waitFor()
  expect(await tab.violations()).toEqual([])
  await card.getByRole('button', { name: 'Do it now' }).click()
  await page.getByRole('button', { name: 'Send now' }).click()
  await eventually(() => expect(asked('/mail')).toHaveLength(2))
  await page.goto(threads)
  await page.getByRole('link', { name: /A chair, please/ }).first().click()
  await chat.getByText('Mail sent.').waitFor()
  // What was paid before the crash is not paid again, nor is the model.
  expect([asked('/model').length, asked('/charge').length]).toEqual([1, 1])
  expect(asked('/charge')[0]!.headers['idempotency-key']).toMatch(/^hdl_/)

  for (const [at, text] of ['A table.', 'A lamp.'].entries()) {
    await order(text)
    await eventually(() => expect(asked('/mail')).toHaveLength(3 + at))
    await chat.getByText('Mail sent.').waitFor()
  }
  const requests = world.received.length

  await project.write({ 'agent.ts': agent('Sell in detail.') })
  const refused = await deploy('--replay', '20', '--replay-max-diverged', '2%')
  expect(refused.status).toBe(3)
  expect(refused.stdout).toMatch(/at step 1, offer: Other call: POST .*\/model/)
  expect(refused.stderr).toContain('r2 stays as it is: it is not activated.')

  await page.goto(`${server.url}/studio/deployments/shop`)
  await page.getByRole('tab', { name: 'Replays' }).click()
  await page.getByRole('row', { name: /^r2/ }).getByRole('link', { name: 'r2' }).click()
  await page.getByRole('button', { name: /step 1, offer/ }).waitFor()
  await page.getByRole('link', { name: /^Difference/ }).first().click()
  await page.getByRole('region', { name: 'Recorded' }).getByText('short').waitFor()
  await page.getByRole('region', { name: 'On r2' }).getByText('detail').waitFor()
  expect(await tab.violations()).toEqual([])
  expect(await shop.show()).toMatchObject({ active: 'r1', rollout: null })
  expect(world.received.length).toBe(requests)

  await page.getByRole('link', { name: 'Open as thread' }).click()
  const copy = page.getByRole('dialog', { name: 'Run in a copy' })
  await copy.getByText(/^This will do .*again/).waitFor()
  expect(await tab.violations()).toEqual([])
  await copy.getByRole('button', { name: 'Run in a copy' }).click()
  await chat.getByText('Mail sent.').waitFor()
  expect(world.received.length).toBe(requests + 3)
  expectQuiet(tab)
  await tab.close()
}, patienceMs)
