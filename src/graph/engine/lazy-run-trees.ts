/** The engine without run trees while nothing is traced: they are built on demand. */

import type { CallbackManager } from '@langchain/core/callbacks/manager'
import type { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'

/** What the patch uses of the project's own copy of the library. */
export interface TracingParts {
  readonly storage: typeof AsyncLocalStorageProviderSingleton
  readonly callbackManager: typeof CallbackManager
}

type Fields = Record<PropertyKey, unknown>
type RunWithConfig = (this: unknown, config: Fields | undefined, callback: () => unknown,
  avoidTree?: boolean) => unknown

const childConfig = Symbol.for('lc:child_config')
const contextVariables = Symbol.for('lc:context_variables')
const tracerName = 'langchain_tracer'
const tracingVariables = ['LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING',
  'LANGCHAIN_TRACING']

/** The functions that the patch replaces, and one that it relies on. */
export function tracingFunctions({ storage, callbackManager }: TracingParts): unknown[] {
  const { _configureSync } = callbackManager as unknown as { _configureSync: unknown }
  return [runWithConfigOf(storage), _configureSync]
}

/**
 * For every call of a node the library builds a run tree. Without tracing, that only carries the
 * config, yet costs as much as everything else together. Here the tree is an object that becomes a
 * real one when code reads more of it than the config. With a tracer, or with tracing switched on,
 * nothing changes. Returns a function that undoes the patch.
 */
export function makeTreesLazy({ storage }: Pick<TracingParts, 'storage'>): () => void {
  const original = runWithConfigOf(storage)
  const makeTree = (): Fields => {
    let tree: unknown
    original.call(storage, undefined, () => {
      tree = storage.getInstance().getStore()
    })
    return tree as Fields
  }
  const lazy = lazyPrototype(makeTree)
  const shortened: RunWithConfig = function(config, callback, avoidTree) {
    const local = storage.getInstance() as unknown as LocalStorage
    const previous = local.getStore()
    if (previous?.[contextVariables] !== undefined || previous?.tracingEnabled === true
      || isTraced(config) || isTracingOn()) {
      return original.call(storage, config, callback, avoidTree)
    }
    if (avoidTree) return local.run(undefined, callback)
    const tree = Object.create(lazy) as Fields
    tree.extra = { [childConfig]: config }
    tree.tracingEnabled = false
    return local.run(tree, callback)
  }
  const patched = storage as unknown as { runWithConfig: RunWithConfig }
  patched.runWithConfig = shortened
  return () => {
    delete (storage as unknown as Partial<typeof patched>).runWithConfig
  }
}

interface LocalStorage {
  getStore(): Fields | undefined
  run(store: unknown, callback: () => unknown): unknown
}

function runWithConfigOf(storage: TracingParts['storage']): RunWithConfig {
  return (Object.getPrototypeOf(storage) as { runWithConfig: RunWithConfig }).runWithConfig
}

/** A prototype for objects that become real trees as soon as a member is touched. */
function lazyPrototype(makeTree: () => Fields): object {
  const sample = makeTree()
  const treePrototype = Object.getPrototypeOf(sample) as Fields
  const prototype = Object.create(treePrototype) as object
  const become = (tree: Fields) => {
    const real = makeTree()
    const extra = { ...real.extra as object, ...tree.extra as object }
    for (const key of Object.keys(real)) {
      const value = key === 'extra' ? extra : real[key]
      Object.defineProperty(tree, key, { value, writable: true, enumerable: true,
        configurable: true })
    }
  }
  for (const key of Object.keys(sample)) {
    if (key === 'extra' || key === 'tracingEnabled') continue
    Object.defineProperty(prototype, key, {
      configurable: true,
      get(this: Fields) {
        become(this)
        return this[key]
      },
      set(this: Fields, value: unknown) {
        become(this)
        this[key] = value
      },
    })
  }
  // Code that copies a tree reads this member first, to check that it is one.
  Object.defineProperty(prototype, 'createChild', {
    get(this: Fields) {
      if (!Object.hasOwn(this, 'id')) become(this)
      return treePrototype.createChild
    },
  })
  return prototype
}

/** A tracer among the callbacks, which may be a list or a manager with one. */
function isTraced(config: Fields | undefined): boolean {
  const callbacks = config?.callbacks as { handlers?: unknown } | undefined
  if (callbacks === undefined) return false
  const handlers = Array.isArray(callbacks) ? callbacks as unknown[] : callbacks.handlers
  return !Array.isArray(handlers) ||
    handlers.some((handler) => (handler as { name?: unknown } | null)?.name === tracerName)
}

/** Whether the environment switches tracing on. */
export function isTracingOn(): boolean {
  const { env } = process
  return tracingVariables.some((name) => env[name] === 'true') || !!env.LANGCHAIN_TRACING
}
