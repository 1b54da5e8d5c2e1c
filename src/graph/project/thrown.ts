/** Shows a value that user code threw, which need not be an error. */

import { inspect, types } from 'node:util'

import type * as Langgraph from '@langchain/langgraph'

import { memberOf, textAt } from '../../json/index.ts'
import { noteReturned, noteThrown } from './code-place.ts'

/** Stands for a thrown value that is not an error, or for an error that cannot be extended. */
class Thrown extends Error {
  constructor(value: unknown) {
    super(wordsOf(types.isNativeError(value) ? value.message : value), { cause: value })
    // Keeps members such as a status by which a retry is decided.
    if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (name !== 'message' && name !== 'name') define(this, name, member)
      }
    }
    if (types.isNativeError(value)) define(this, 'name', nameOf(value))
    if (types.isNativeError(value)) define(this, 'stack', value.stack)
  }
}

function define(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, writable: true, configurable: true })
}

/** The engine adds the id of the task to what a node throws, and stores name and message. */
function usable(thrown: unknown): Error {
  if (!(thrown instanceof Error) || !Object.isExtensible(thrown)) return new Thrown(thrown)
  if (!thrown.name) define(thrown, 'name', nameOf(thrown))
  return thrown
}

interface Callable {
  invoke(...details: unknown[]): Promise<unknown>
}

/**
 * Gives the engine an error when a node throws another value. The engine would fail over a text or
 * null, and store an object without its content. Notes where errors were thrown. Call once for
 * each copy of the library.
 */
export function keepThrown(
  { StateGraph, MessagesAnnotation }: Pick<typeof Langgraph, 'StateGraph' | 'MessagesAnnotation'>,
): void {
  const graph = new StateGraph(MessagesAnnotation).addNode('node', () => ({}))
    .addEdge('__start__', 'node').compile()
  const prototype: unknown = Object.getPrototypeOf(memberOf(graph.nodes.node, 'bound') ?? {})
  if (!isCallable(prototype)) return
  const { invoke } = prototype
  prototype.invoke = function(...details) {
    const [, config] = details
    return invoke.apply(this, details).then((result) => {
      noteReturned(config)
      return result
    }, (thrown: unknown) => {
      const error = usable(thrown)
      noteThrown(error, config)
      throw error
    })
  }
}

function isCallable(value: unknown): value is Callable {
  return typeof memberOf(value, 'invoke') === 'function'
}

/** The name of an error; `Error` if it has none. */
export function nameOf(error: Error): string {
  const name: unknown = error.name
  return name === undefined || name === '' ? 'Error' : wordsOf(name)
}

/** Text for anything that was thrown, even if JSON cannot represent it. */
function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return inspect(thrown, { depth: 2 })
  }
}

/** The message of an error, with what Node leaves out of it; the text of any other value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error
    ? explained(thrown, wordsOf(thrown.message))
    : wordsOf(thrown)
}

function explained(error: NodeJS.ErrnoException, message: string): string {
  if (error.code === 'ERR_ACCESS_DENIED') return denied(error, message)
  if (error.code === 'ERR_DLOPEN_FAILED') return otherNode(message) ?? message
  if (/^(?:ERR_)?MODULE_NOT_FOUND$/.test(error.code ?? '')) return unbuilt(message) ?? message
  return message
}

/** Node keeps the resource beside the message, and speaks of a flag that no deployment has. */
function denied(error: Error, message: string): string {
  const [permission, resource] = [textAt(error, 'permission'), textAt(error, 'resource')]
  if (permission === undefined) return message
  const what = resource ? ` of ${resource}` : ''
  return `${permission}${what} is not permitted: the code of a deployment reads its own files, ` +
    'writes none, and starts no other process.'
}

/** Native code is built for one version of the interface of Node. */
function otherNode(message: string): string | undefined {
  const [built, here] = Array.from(message.matchAll(/NODE_MODULE_VERSION (\d+)/g),
    ([, version]) => version)
  const [, file] = /module '([^']+)'/.exec(message) ?? []
  if (file === undefined || here === undefined) return undefined
  const { name = file } = inPackage(file)
  return `${name} was built for another version of Node.js (NODE_MODULE_VERSION ${built}), and ` +
    `graphs run on Node.js ${process.versions.node} (${here}): install it with that version, or ` +
    `run npm rebuild ${name} with it.`
}

/** A package that is there without a file: mostly one of a workspace that was not built. */
function unbuilt(message: string): string | undefined {
  const [, missing, importer] =
    /^Cannot find (?:module|package) '([^']+)'(?: imported from (.+)$)?/m.exec(message) ?? []
  const { name, file } = inPackage(missing ?? '')
  if (name === undefined || !file || message.includes('Did you mean')) return undefined
  const by = importer?.split(/[\\/]/).slice(-3).join('/')
  return `${name} has no ${file}${by === undefined ? '' : `, which ${by} imports`}: build that ` +
    'package if it is one of the workspace, otherwise install it again.'
}

/** The package in whose folder a path lies, and the rest of the path. */
function inPackage(path: string): Readonly<Partial<Record<'name' | 'file', string>>> {
  const inside = path.split(/node_modules[\\/]/).slice(1).at(-1) ?? ''
  return /^(?<name>(?:@[^\\/]+[\\/])?[^\\/]+)[\\/]?(?<file>.*)$/.exec(inside)?.groups ?? {}
}
