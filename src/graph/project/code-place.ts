/** Places in a project at which errors were thrown: the engine keeps their names and messages. */

import { LRUCache } from '../../../cluster/index.ts'
import { memberOf, objectOf, textAt } from '../../json/index.ts'

/** The topmost stack frame in `root` outside of its node_modules, as `src/agent.ts:3:7`. */
export function placeIn(root: string, error: unknown): string | undefined {
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : ''
  const [, place] = stack.split(`${root}/`).slice(1)
    .map((rest) => /^(?!node_modules\/)([^\s)]+:\d+:\d+)/.exec(rest))
    .find((match) => match !== null) ?? []
  return place
}

const framesMax = 30
const frameLength = 300

/**
 * The frames of a stack in `root`, a line each, with paths from there:
 * `at plan (src/agent.ts:3:7)`.
 * Those of the engine and of Node.js, and places outside of the project, are left out.
 */
export function framesIn(root: string, stack: string): string {
  return stack.split('\n').filter((line) => /^\s+at /.test(line) && isOwn(line, root))
    .slice(0, framesMax)
    .map((line) =>
      line.trim().replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '').slice(0, frameLength)
    )
    .join('\n')
}

const isOwn = (line: string, root: string): boolean =>
  line.includes(`${root}/`) && !/node_modules\/@langchain\/(core|langgraph)[/-]/.test(line)

/** Tasks and errors that are remembered: each only from its throw until it is stored. */
const remembered = 500
/** Longer messages are known by their beginning and their length. */
const keyLength = 500

const stacks = new LRUCache<string, string>({ max: remembered })
const failing = new LRUCache<string, object>({ max: remembered })

/** A node threw. `config` is what the engine gave it. Interrupts and jumps are no errors. */
export function noteThrown(error: Error, config: unknown): void {
  if (memberOf(error, 'is_bubble_up') === true) return
  const { name, message, stack } = error
  if (typeof stack === 'string') stacks.set(keyOf(name, message), stack)
  const task = taskIn(config)
  if (task !== undefined) failing.set(task, { name, message })
}

/** A node returned, perhaps when it was tried again. */
export function noteReturned(config: unknown): void {
  const task = taskIn(config)
  if (task !== undefined) failing.delete(task)
}

/** The error with which a task failed last; undefined if it did not. */
export const errorOfTask = (taskId: string): unknown => failing.get(taskId)

/**
 * The error of a task as the engine stores it, with the frames in the project at `root`. An error
 * that passes through several graphs is thrown once, and stored for each of their tasks.
 */
export function withPlace(stored: unknown, root: string | undefined): unknown {
  const [name, message] = [textAt(stored, 'name'), textAt(stored, 'message')]
  if (root === undefined || name === undefined || message === undefined) return stored
  const stack = framesIn(root, stacks.get(keyOf(name, message)) ?? '')
  return stack === '' ? stored : { ...objectOf(stored), stack }
}

const taskIn = (config: unknown): string | undefined =>
  textAt(memberOf(config, 'configurable'), '__pregel_task_id')

const keyOf = (name: unknown, message: unknown): string => {
  const text = String(message)
  return `${String(name)}\n${text.length}\n${text.slice(0, keyLength)}`
}
