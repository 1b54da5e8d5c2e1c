/** Makes the engine cheaper when nothing is traced: run trees are built on demand. */

import { createHash } from 'node:crypto'

import type { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import type { CallbackManager } from '@langchain/core/callbacks/manager'

import type { Log } from '../../../cluster/index.ts'
import type { GraphLibrary } from '../project/library.ts'
import { ChannelUpdates } from '../state/channel-updates.ts'
import type { ChannelClass } from '../state/channel-updates.ts'
import { knownReducers } from './append-path.ts'
import type { MessagesReducer } from './append-path.ts'
import { BareStream } from './bare-stream.ts'
import type { PregelMethods } from './bare-stream.ts'

/** The parts of the project's own copy of the library that the tracing shortcut uses. */
export interface EngineParts {
  readonly storage: typeof AsyncLocalStorageProviderSingleton
  readonly callbackManager: typeof CallbackManager
}

type Fields = Record<PropertyKey, unknown>
type RunWithConfig = (this: unknown, config: Fields | undefined, callback: () => unknown,
  avoidTree?: boolean) => unknown

/** Functions of the library that a shortcut may replace, by the hash of their source. */
const known: Readonly<Record<string, string>> = {
  '68abd22aaa174334': 'runWithConfig and _configureSync of @langchain/core 1.2.13 to 1.2.18',
  'd07c7ccb673e0908': 'runWithConfig and _configureSync of @langchain/core 1.3.1 to 1.4.0',
  '9fc35abccc9ae422': 'messagesStateReducer of @langchain/langgraph 1.2.9 to 1.5.0',
  'a952b635806a4f74': 'messagesStateReducer of @langchain/langgraph 1.5.3 to 1.7.3',
  '52191e1021b395eb': 'stream and _streamIterator of @langchain/langgraph 1.4.18',
  '01c98c35919c8cd2': 'stream and _streamIterator of @langchain/langgraph 1.5.0 and 1.5.3',
  'b8a1901fa671c5a6': 'stream and _streamIterator of @langchain/langgraph 1.7.0 to 1.7.3',
}

const childConfig = Symbol.for('lc:child_config')
const contextVariables = Symbol.for('lc:context_variables')
const tracerName = 'langchain_tracer'
const tracingVariables = ['LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING',
  'LANGCHAIN_TRACING']

/**
 * True if the source of the functions is known. This is stricter than a version number, and true
 * for every version in which the source is the same.
 */
export function isKnown(...functions: readonly unknown[]): boolean {
  const text = functions.map(String).join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, 16) in known
}

/** The functions that the tracing shortcut replaces. */
export function tracingFunctions({ storage, callbackManager }: EngineParts): unknown[] {
  const { _configureSync } = callbackManager as unknown as { _configureSync: unknown }
  return [runWithConfigOf(storage), _configureSync]
}

/**
 * Replaces run trees. The library builds one for every call of a node. Without tracing, the tree
 * only carries the config, yet costs as much as everything else together. Here the tree is an
 * object that becomes a real one when code reads more of it than the config. With a tracer, or with
 * tracing switched on, nothing changes. Returns a function that undoes the patch.
 */
export function shortenTracing({ storage }: Pick<EngineParts, 'storage'>): () => void {
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

function runWithConfigOf(storage: EngineParts['storage']): RunWithConfig {
  return (Object.getPrototypeOf(storage) as { runWithConfig: RunWithConfig }).runWithConfig
}

/** A prototype for objects that become real trees as soon as a member is read. */
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

/** True with a tracer among the callbacks, which may be a list or a manager with one. */
function isTraced(config: Fields | undefined): boolean {
  const callbacks = config?.callbacks as { handlers?: unknown } | undefined
  if (callbacks === undefined) return false
  const handlers = Array.isArray(callbacks) ? callbacks as unknown[] : callbacks.handlers
  return !Array.isArray(handlers) ||
    handlers.some((handler) => (handler as { name?: unknown } | null)?.name === tracerName)
}

/** True if LangSmith or LangChain tracing is switched on in the environment. */
export function isTracingOn(): boolean {
  const { env } = process
  return tracingVariables.some((name) => env[name] === 'true') || !!env.LANGCHAIN_TRACING
}

/** What may replace parts of the library while a graph runs. Undefined parts stay as they are. */
export interface Shortcuts {
  readonly updates: ChannelUpdates | undefined
  readonly bareStream: BareStream | undefined
}

/** Enables the shortcuts that fit the project's copy of the library. Call once in each worker. */
export async function takeShortcuts({ langgraph }: Pick<GraphLibrary, 'langgraph'>,
  log: Log): Promise<Shortcuts> {
  const [{ AsyncLocalStorageProviderSingleton: storage }, { CallbackManager: callbackManager },
    { Runnable }, { Pregel }] = await Promise.all([import('@langchain/core/singletons'),
      import('@langchain/core/callbacks/manager'), import('@langchain/core/runnables'),
      import('@langchain/langgraph/pregel')])
  if (isKnown(...tracingFunctions({ storage, callbackManager }))) shortenTracing({ storage })
  else log.debug('This version of @langchain/core is not known: it runs unchanged.')
  const reducer = langgraph.messagesStateReducer as MessagesReducer
  const methods = Pregel.prototype as unknown as PregelMethods
  const { stream: wrap } = Runnable.prototype
  return {
    updates: isKnown(reducer) ? watchedUpdates(langgraph, reducer) : undefined,
    bareStream: isKnown(methods.stream, methods._streamIterator, wrap)
      ? new BareStream(methods) :
      undefined,
  }
}

function watchedUpdates({ BinaryOperatorAggregate }: GraphLibrary['langgraph'],
  reducer: MessagesReducer): ChannelUpdates {
  const updates = new ChannelUpdates(knownReducers(reducer))
  updates.watch(BinaryOperatorAggregate as unknown as ChannelClass)
  return updates
}

/**
 * Makes the environment of this worker a plain object. Reading a variable of the real environment
 * is a call out of JavaScript, and the library does it at every step. A worker's environment is a
 * copy anyway. Not on Windows, where names are case-insensitive.
 */
export function copyEnvironment(): void {
  if (process.platform !== 'win32') process.env = { ...process.env }
}
