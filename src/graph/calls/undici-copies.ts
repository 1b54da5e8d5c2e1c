/** Finds the copies of undici in a thread: Node's own, and those that the project loads. */

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

import type { DispatcherBase } from './dispatcher-door.ts'

/** Name of the function to which a copy hands its base class when it is loaded. */
const found = Symbol.for('heddle.dispatcher')
/** File of the base class since undici 5.0. */
const file = /\/lib\/(?:dispatcher\/)?dispatcher-base\.js$/
const ownAgent = Symbol.for('undici.globalDispatcher.1')

/** The base class of Node's own copy. Throws if it is not where it was. */
export function nodeDispatcher(): DispatcherBase {
  // Node loads its copy with the first of these.
  void globalThis.Response
  let prototype: unknown = (globalThis as Record<symbol, unknown>)[ownAgent]
  const owners: DispatcherBase[] = []
  while (typeof prototype === 'object' && prototype !== null) {
    if (Object.hasOwn(prototype, 'dispatch')) owners.push(prototype as DispatcherBase)
    prototype = Object.getPrototypeOf(prototype)
  }
  // The last one is abstract.
  const base = owners.at(-2)
  if (base === undefined) throw new Error('the agent of fetch is of an unknown kind')
  return base
}

/** Calls `each` with the base class of each copy that is loaded from now on. */
export function watchCopies(each: (base: DispatcherBase) => void): () => void {
  const handed = (loaded: unknown) => {
    const { prototype } = (loaded ?? {}) as { readonly prototype?: DispatcherBase }
    if (prototype && Object.hasOwn(prototype, 'dispatch')) each(prototype)
  }
  Object.defineProperty(globalThis, found, { value: handed, configurable: true })
  const hooks = registerHooks({ load: (url, context, next) => {
    const loaded = next(url, context)
    if (!file.test(url) || loaded.format === 'module') return loaded
    const text = String(loaded.source ?? readFileSync(fileURLToPath(url)))
    const source = `${text}\n;globalThis[Symbol.for('heddle.dispatcher')]?.(module.exports)\n`
    return { ...loaded, source }
  } })
  return () => {
    hooks.deregister()
    delete (globalThis as Record<symbol, unknown>)[found]
  }
}
