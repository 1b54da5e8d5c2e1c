/** The app of a deployment: in a thread of the deployment's process, with its permissions. */

import { request } from 'node:http'
import { text } from 'node:stream/consumers'

import { expect, it, onTestFinished } from 'vitest'

import { appHeaders } from '../../../../src/graph/app/app-headers.ts'
import { startGraphProcess } from '../../../../src/graph/index.ts'
import type { GraphProcess } from '../../../../src/graph/index.ts'
import { processOf } from '../process/process-host.ts'
import { writeProject } from '../project/project-files.ts'
import { startApp } from './app-project.ts'

const folderWith = (app: string) =>
  writeProject({
    'langgraph.json': { graphs: { agent: './graph.js:graph' }, http: { app: './app.js:app' } },
    'graph.js': `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
      export const graph = new StateGraph(MessagesAnnotation).addNode('a', () => ({}))
        .addEdge('__start__', 'a').compile()`,
    'app.js': app,
    'package.json': { type: 'module' },
  })

const source = `
import { readFileSync } from 'node:fs'
const ways = {
  '/secret': () => new Response(process.env.SHOP_SECRET),
  '/passwd': () => { try { return new Response(readFileSync('/etc/passwd')) }
    catch (error) { return new Response(error.code) } },
  '/exit': () => process.exit(1),
}
console.log('loaded with', process.env.SHOP_SECRET)
export const app = { fetch: (request) => ways[new URL(request.url).pathname]() }
`

async function ask(host: GraphProcess, path: string): Promise<string> {
  const { port, token } = await host.app!()!.routes!.address()
  return await new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent: false, headers: { [appHeaders.token]: token } },
      (answer) => resolve(text(answer)))
      .once('error', reject).end()
  })
}

it('It has variables and bounds of its deployment, and is replaced when it ends.', async () => {
  const printed: string[] = []
  const host = await startGraphProcess({
    ...processOf(await folderWith(source), { variables: { SHOP_SECRET: 'plums' } }),
    printed: (line) => void printed.push(line),
  })
  onTestFinished(() => host.close())
  expect(host.graphs()).toMatchObject([{ graphId: 'agent' }])
  expect(await ask(host, '/secret')).toBe('plums')
  expect(await ask(host, '/passwd')).toBe('ERR_ACCESS_DENIED')
  expect(printed).toContain('loaded with plums')
  await expect(ask(host, '/exit')).rejects.toThrow()
  await expect.poll(() => ask(host, '/secret').catch(() => '')).toBe('plums')
})

it('A process whose app cannot be loaded is refused, with the file and the reason.', async () => {
  await expect(startGraphProcess(processOf(await folderWith('throw new Error("no shop")'))))
    .rejects.toMatchObject({ code: 'graph_failed',
      message: expect.stringMatching(/http\.app could not be loaded \(app\.js:1:7\): no shop/) })
})

it('A thread that hangs is replaced, and questions wait for the next one.', async () => {
  const login = `import { Auth } from '@langchain/langgraph-sdk/auth'
    export const auth = new Auth().authenticate((request) => {
      if (request.headers.get('authorization') === 'spin') for (;;);
      return 'ann'
    })`
  const { link } = await startApp({ login }, { hangMs: 1_000, limitMs: 20_000 })
  const asked = (name: string) =>
    link.app!.login!.authenticate({ method: 'GET', url: 'http://x/',
      headers: [['authorization', name]] })
  await expect(asked('spin')).rejects.toMatchObject({ code: 'unavailable' })
  expect(await asked('ann')).toMatchObject({ kind: 'user', user: { identity: 'ann' } })
})
