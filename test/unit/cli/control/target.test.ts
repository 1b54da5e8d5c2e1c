/** Which server a command asks, as whom, about which deployment, and what it says without one. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { runDeploymentsCommand } from '../../../../src/cli/control/deployments-command.ts'
import { openAdminSocket, servedUrl } from '../../../../src/server/admin-socket.ts'
import { startControlServer } from '../../../support/control-server.ts'
import { firstFreePort } from '../../../support/port.ts'
import { runIn } from '../../../support/project-command.ts'
import { freshFolder, writeTree } from '../../revision/trees.ts'
import { smallProject } from './small-project.ts'

const env = systemEnv({ level: 'silent' })

async function socketIn(directory: string, url: string | undefined): Promise<void> {
  const never = async () => Promise.reject(new Error('nobody asks for this'))
  const socket = await openAdminSocket({ directory, url, env, secrets: { survey: never },
    revisions: { survey: never }, billing: { page: never },
    keyAdmin: { create: never, list: never, revoke: never } })
  onTestFinished(() => socket!.close())
}

/** Its path is short, as that of a socket has to be. */
function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const show = (folder: string, environment: Record<string, string>, ...args: readonly string[]) =>
  runIn({ folder, environment }, runDeploymentsCommand, 'show', ...args, '--json')

it('A server beside its data directory is found without a setting.', async () => {
  const [control, data] = [await startControlServer(), dataFolder()]
  control.add('shop-app')
  await socketIn(data, control.url)
  expect(await show(await smallProject(), { HEDDLE_DATA_DIR: data })).toMatchObject({ status: 0,
    stdout: expect.stringContaining(`"url":"${control.url}/d/shop-app"`) })
})

it('A server without a front door, or that is not there, has no URL.', async () => {
  const data = dataFolder()
  expect(await servedUrl({ directory: data, env })).toBeUndefined()
  await socketIn(data, undefined)
  expect(await servedUrl({ directory: data, env })).toBeUndefined()
})

it('The project names its server and its deployment, and what is typed wins.', async () => {
  const [control, other] = [await startControlServer(), await startControlServer()]
  control.add('bazaar')
  other.add('market')
  const folder = await smallProject()
  await writeTree(folder, {
    'langgraph.json': JSON.stringify({ graphs: {},
      heddle: { url: `${control.url}/`, deployment: 'bazaar' } }),
  })
  expect(await show(folder, {})).toMatchObject({ status: 0,
    stdout: expect.stringContaining('"name":"bazaar"') })
  expect((await show(folder, { HEDDLE_URL: other.url }, 'market')).status).toBe(0)
  expect((await show(folder, { HEDDLE_URL: control.url }, 'market', '--url', other.url)).status)
    .toBe(0)
  expect((await show(await freshFolder(), {}, '--config', folder)).status).toBe(0)
})

it('A key is sent, and a server that asks for one says how to get it.', async () => {
  const control = await startControlServer()
  control.add('shop')
  control.key = 'hk-1'
  const asked = (...args: readonly string[]) =>
    show('.', { HEDDLE_URL: control.url }, 'shop', ...args)
  expect(await asked()).toMatchObject({ status: 1, stderr: expect.stringMatching(
    /asks for an API key: .*"heddle keys create".*HEDDLE_API_KEY\.$/,
  ) })
  expect(await asked('--key', 'hk-2')).toMatchObject({ status: 1,
    stderr: expect.stringMatching(/does not know this API key/) })
  expect((await asked('--key', 'hk-1')).status).toBe(0)
  expect((await show('.', { HEDDLE_URL: control.url, HEDDLE_API_KEY: 'hk-1' }, 'shop')).status)
    .toBe(0)
})

it('Where nobody answers, the message says so and what to do.', async () => {
  const url = `http://127.0.0.1:${await firstFreePort()}`
  expect(await show('.', { HEDDLE_URL: url }, 'shop')).toMatchObject({ status: 1,
    stderr: `No server answers at ${url} (ECONNREFUSED).` })
  const folder = await smallProject()
  await writeTree(folder, { 'langgraph.json': JSON.stringify({ heddle: { url } }) })
  expect((await show(folder, {})).stderr)
    .toBe(`No server answers at ${url} (ECONNREFUSED), which langgraph.json names.`)
})

it('Where something else answers, the message says so.', async () => {
  const server = createServer((_, response) => response.writeHead(404).end('<html>'))
  onTestFinished(() => void server.close())
  const port = await firstFreePort()
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  expect(await show('.', { HEDDLE_URL: `http://127.0.0.1:${port}` }, 'shop')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^There is no control API at http/),
  })
})

it.each([
  [{ HEDDLE_URL: 'localhost:2024' }, ['shop'], /^--url must be an address like https:/],
  [{ HEDDLE_URL: 'http://a?key=1' }, ['shop'], /^--url must be an address alone/],
  [{}, ['1234'], /^"1234" is no name of a deployment/],
])('With %j, %j is a mistake.', async (environment, args, message) => {
  const { status, stderr } = await show('.', environment, ...args)
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)])
})

it('A langgraph.json whose "heddle" has no texts is a mistake.', async () => {
  const folder = await smallProject()
  await writeTree(folder, { 'langgraph.json': '{"heddle": {"deployment": 7}}' })
  expect(await show(folder, { HEDDLE_URL: 'http://127.0.0.1:1' })).toMatchObject({ status: 2,
    stderr: expect.stringMatching(/^heddle\.deployment in .*langgraph\.json must be a text$/) })
})
