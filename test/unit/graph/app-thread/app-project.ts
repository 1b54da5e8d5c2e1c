/** A project with a login and an app, compiled, and its thread in a test. */

import { request as send } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { appHeaders } from '../../../../src/graph/app/app-headers.ts'
import { AppLink } from '../../../../src/graph/app-thread/app-link.ts'
import { SupervisedApp } from '../../../../src/graph/app-thread/supervised-app.ts'
import type { SupervisedAppOptions } from '../../../../src/graph/app-thread/supervised-app.ts'
import { compileProject, readProject } from '../../../../src/graph/index.ts'
import type { CompiledProject } from '../../../../src/graph/index.ts'
import { writeProject } from '../project/project-files.ts'
import type { WhenOver } from '../project/project-files.ts'

const graph = `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const graph = new StateGraph(MessagesAnnotation).addNode('a', () => ({}))
  .addEdge('__start__', 'a').compile()`

/** The sources of a project. */
export interface BroughtSources {
  readonly login?: string
  readonly app?: string
}

/** The compiled project. */
export async function appProject({ login, app }: BroughtSources,
  whenOver?: WhenOver): Promise<CompiledProject> {
  const root = await writeProject({
    'langgraph.json': { graphs: { agent: './graph.js:graph' } },
    'graph.js': graph,
    'package.json': { type: 'module' },
    ...login !== undefined && { 'auth.ts': login },
    ...app !== undefined && { 'app.ts': app },
  }, whenOver)
  const project = await readProject(root)
  return await compileProject({ ...project, ...login !== undefined &&
    { login: { field: 'auth.path', file: join(root, 'auth.ts'), exportName: 'auth' } },
    ...app !== undefined &&
      { app: { field: 'http.app', file: join(root, 'app.ts'), exportName: 'app' } } })
}

/** The running thread of a project, and the server's end of it. */
export async function startApp(sources: BroughtSources,
  { limitMs = 10_000, env = systemEnv({ level: 'silent' }), ...options }:
    & Partial<SupervisedAppOptions>
    & {
      /** Time that an answer of the login may take. */
      readonly limitMs?: number
      readonly env?: Env
    } = {}) {
  const project = await appProject(sources)
  const lines: string[] = []
  const link = new AppLink(env, limitMs)
  const thread = new SupervisedApp(env, { project, heapMb: 128, variables: { ...process.env },
    hangMs: 10_000, printed: (line) => void lines.push(line), moved: (place) => link.moved(place),
    ...options })
  onTestFinished(async () => {
    link.close()
    await thread.close()
  })
  await thread.opened
  return { thread, link, lines,
    ask: (path: string, more: AppRequest = {}) => ask(link, path, more) }
}

/** Parts of a request beside its path. */
export interface AppRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Asks the app as the front door does. */
export async function ask(link: AppLink, path: string,
  { method = 'GET', headers = {}, body }: AppRequest = {}) {
  const response = await open(link, path, { method, headers, ...body !== undefined && { body } })
  return { status: response.statusCode, headers: response.headers, text: await text(response) }
}

/** Resolves with the answer when its headers are there. */
export async function open(link: AppLink, path: string,
  { method = 'GET', headers = {}, body }: AppRequest = {}): Promise<IncomingMessage> {
  const { port, token } = await link.app!.routes!.address()
  return await new Promise((resolve, reject) => {
    const call = send({ host: '127.0.0.1', port, path, method, agent: false,
      headers: { [appHeaders.token]: token, ...headers } }, resolve)
    call.once('error', reject)
    call.end(body)
  })
}
