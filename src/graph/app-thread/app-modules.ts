/** The login and the app of a project, imported into this thread. */

import type { EventEmitter } from 'node:events'

import { HeddleError } from '../../errors.ts'
import type { ProjectLogin } from '../app/project-app.ts'
import { placeIn } from '../project/code-place.ts'
import { serveModules } from '../project/module-loader.ts'
import type { BroughtEntry, CompiledProject } from '../project/project-compiler.ts'
import { messageOf } from '../project/thrown.ts'
import { socketsOf } from './app-server.ts'
import { appOver } from './loaded-app.ts'
import type { LoadedApp } from './loaded-app.ts'
import { loginOver } from './login-handlers.ts'
import type { NoteFault } from './login-handlers.ts'

/** Parts that were loaded; undefined for what the project does not bring. */
export interface LoadedModules {
  readonly login: ProjectLogin | undefined
  readonly app: LoadedApp | undefined
  /** Takes WebSockets of the app. */
  readonly sockets: EventEmitter | undefined
}

/**
 * Loads them, by the project's own loader. Call once in a thread. Throws `graph_failed` with the
 * file and the reason.
 */
export async function loadModules(project: CompiledProject,
  noteFault: NoteFault): Promise<LoadedModules> {
  serveModules(project)
  for (const [name, value] of Object.entries(project.env)) process.env[name] ??= value
  const { login, app, root } = project
  const auth = login && await load(root, login, (exported) => loginOver(exported, noteFault))
  const routes = app &&
    await load(root, app,
      (exported, module) => ({ app: appOver(exported), sockets: socketsOf(module, exported) }))
  return { login: auth, app: routes?.app, sockets: routes?.sockets }
}

async function load<Loaded>(root: string, entry: BroughtEntry,
  check: (exported: unknown, module: object) => Loaded): Promise<Loaded> {
  const { field, url, exportName, failure } = entry
  const complaint = `The module of ${field} could not be loaded`
  if (failure !== null) throw new HeddleError('graph_failed', `${complaint}: ${failure}`)
  try {
    const module = await import(url) as Record<string, unknown>
    if (!(exportName in module)) {
      const others = Object.keys(module).join(', ') || 'nothing'
      throw new Error(`its file does not export "${exportName}"; it exports ${others}`)
    }
    return check(await module[exportName], module)
  } catch (error) {
    const place = placeIn(root, error) ?? decodeURI(url).split('/').slice(-1)[0]
    throw new HeddleError('graph_failed', `${complaint} (${place}): ${messageOf(error)}`, {}, {
      cause: error,
    })
  }
}
