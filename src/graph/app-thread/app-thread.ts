/** The entry of an app thread: loads the login and the app of a project, and answers at a port. */

import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

import { atLatest, systemEnv } from '../../../cluster/index.ts'
import { assert, HeddleError } from '../../errors.ts'
import { isObject, memberOf } from '../../json/index.ts'
import { isMachineFault } from '../machine-fault.ts'
import { secretHider } from '../logs/secret-values.ts'
import { clientMayAsk, offerClient, serverIsAt } from '../pool/in-graph-client.ts'
import type { AppDescription, AppThreadData, FromAppThread, ToAppThread } from './app-mail.ts'
import { loadModules } from './app-modules.ts'
import { openAppServer } from './app-server.ts'
import type { LoadedApp } from './loaded-app.ts'

/** Path at which an app may describe its routes. */
const openApiUrl = 'http://localhost/openapi.json'
const openApiMs = 5_000
const openApiCharacters = 2 * 1024 * 1024
/** Reasons that are logged: each once, as a caller can cause them without end. */
const faultsMax = 1_000

assert(threads.workerData, 'this file is started as a worker thread')
const { name, project, token, port } = threads.workerData as AppThreadData
const env = systemEnv({ name })

// User code must not find the token and the port.
Object.assign(threads, { workerData: null })
syncBuiltinESMExports()
const say = (mail: FromAppThread) => port.postMessage(mail)

const faults = new Set<string>()
const hide = secretHider(process.env)
const noteFault = (reason: string, error?: unknown) => {
  const text = hide(error instanceof Error ? error.stack ?? error.message : String(error ?? ''))
  const fault = `${reason} ${text}`
  if (faults.has(fault) || faults.size === faultsMax) return
  faults.add(fault)
  env.log.error(reason, text === '' ? {} : { error: text })
}
// A rejection that user code does not handle must not end the thread.
process.on('unhandledRejection',
  (error) => noteFault('A promise was rejected in the app and not handled.', error))

port.on('message', (mail: ToAppThread) => {
  if (mail.type === 'ping') say({ type: 'pong' })
  else serverIsAt(mail.url)
})
offerClient(env.log)
const modules = await loadModules(project, noteFault).catch((error: unknown) => {
  if (!(error instanceof HeddleError)) throw error
  say({ type: 'refused', reason: error.message, isTransient: isMachineFault(error) })
  process.exit(1)
})
clientMayAsk()
const { login, app, sockets } = modules
const number = await openAppServer({ token, login, app, sockets, noteFault })
say({ type: 'ready',
  place: { port: number, ...login && { events: login.events },
    ...app && { app: await described(app) } } })

async function described(loaded: LoadedApp): Promise<AppDescription> {
  const openApi = await atLatest(env, openApiMs, openApiOf(loaded).catch(() => undefined))
  return { patterns: loaded.patterns, takesSockets: sockets !== undefined,
    ...openApi !== undefined && { openApi } }
}

/** The document that the app has at `/openapi.json`; undefined for one without such a route. */
async function openApiOf(loaded: LoadedApp): Promise<unknown> {
  const isThere = loaded.patterns?.some(({ path, isMiddleware }) =>
    !isMiddleware && path === '/openapi.json'
  )
  if (isThere !== true) return undefined
  const answer = await loaded.handle({ request: new Request(openApiUrl), incoming: {},
    user: undefined, passOn: undefined })
  const text = answer.ok ? await answer.text() : ''
  const document: unknown = text.length > openApiCharacters ? undefined : JSON.parse(text)
  return isObject(memberOf(document, 'paths')) ? document : undefined
}
