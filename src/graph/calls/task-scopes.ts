/** Enters the scope of each task, where the engine runs its node or the core enters its config. */

import { callingFrom, callScope } from './call-scope.ts'
import type { CallScope } from './call-scope.ts'
import { untilStopped } from './running-tasks.ts'
import type { BegunTask } from './running-tasks.ts'
import { taskSiteIn } from './task-site.ts'
import type { FoundSite, TaskSite } from './task-site.ts'

/** The part of `AsyncLocalStorageProviderSingleton` of @langchain/core that is replaced. */
export interface ConfigProvider {
  runWithConfig<Result>(config: unknown, work: () => Result, avoidsRootTree?: boolean): Result
}

/** The part of the class of the engine's nodes that is replaced. */
export interface NodeBase {
  getNode(): EngineNode | undefined
}

interface EngineNode {
  invoke(input: unknown, config?: unknown): Promise<unknown>
}

/**
 * Makes calls know their tasks. The engine's own `getConfig()` does not: it answers nothing while
 * the stream of a model is read. Without `nodes`, a task that is no plain function cannot be ended
 * from outside. Returns a function that undoes it.
 */
export function followTasks(provider: ConfigProvider, nodes?: NodeBase): () => void {
  const { runWithConfig } = provider
  const plain = runWithConfig.bind(provider) as ConfigProvider['runWithConfig']
  const sites = new WeakMap<CallScope['gate'], Map<string, TaskSite>>()
  provider.runWithConfig = function<Result>(config: unknown, work: () => Result,
    avoidsRootTree?: boolean): Result {
    const run = () => plain(config, work, avoidsRootTree)
    return entering(config, run, (site, begun) => {
      const made = run()
      // Code whose promise is made elsewhere is ended by its node.
      return made instanceof Promise
        ? untilStopped(site, begun, () => made) as Result
        : made
    })
  }
  const unfollow = nodes &&
    followNodes(nodes,
      (config, work) => entering(config, work, (site, begun) => untilStopped(site, begun, work)))
  return () => {
    provider.runWithConfig = runWithConfig
    unfollow?.()
  }

  /** Does work of a task that begins here in its scope, and all other work as it is. */
  function entering<Result>(config: unknown, work: () => Result,
    begin: (site: TaskSite, begun: BegunTask) => Result): Result {
    const scope = callScope()
    const found = scope && taskSiteIn(config)
    if (scope === undefined || found === undefined) return work()
    // What runs inside of a task often has a config that lacks the attempt.
    const { site } = scope
    if (site?.taskId === found.taskId && (found.attempt ?? site.attempt) === site.attempt) {
      return work()
    }
    const ofGate = sites.get(scope.gate) ?? new Map<string, TaskSite>()
    sites.set(scope.gate, ofGate)
    const made = siteOf(found, ofGate)
    const begun: BegunTask = { within: (inner) => plain(config, inner), around: site }
    return callingFrom(scope, made, () => begin(made, begun))
  }
}

type RunNode = (config: unknown, work: () => Promise<unknown>) => Promise<unknown>

/** Lets `run` begin what each node does. Returns a function that undoes it. */
function followNodes(nodes: NodeBase, run: RunNode): () => void {
  const { getNode } = nodes
  nodes.getNode = function(this: NodeBase) {
    const node = getNode.call(this)
    return node && Object.create(node, {
      invoke: {
        value: (input: unknown, config?: unknown) => run(config, () => node.invoke(input, config)),
      },
    }) as EngineNode
  }
  return () => {
    nodes.getNode = getNode
  }
}

/** The site of a task's attempt. It replaces that of the attempt before. */
function siteOf({ attempt, ...found }: FoundSite, known: Map<string, TaskSite>): TaskSite {
  const last = known.get(found.taskId)
  if (last !== undefined && (attempt ?? last.attempt) === last.attempt) return last
  const site = { ...found, attempt: attempt ?? 1 }
  known.set(found.taskId, site)
  return site
}
