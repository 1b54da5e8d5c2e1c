/** Enters the scope of each task, where the project's core enters its config. */

import { callingFrom, callScope } from './call-scope.ts'
import type { CallScope } from './call-scope.ts'
import { taskSiteIn } from './task-site.ts'
import type { FoundSite, TaskSite } from './task-site.ts'

/** The part of `AsyncLocalStorageProviderSingleton` of @langchain/core that is replaced. */
export interface ConfigProvider {
  runWithConfig<Result>(config: unknown, work: () => Result, avoidsRootTree?: boolean): Result
}

/**
 * Makes calls know their tasks. The engine's own `getConfig()` does not: it answers nothing while
 * the stream of a model is read. Returns a function that undoes it.
 */
export function followTasks(provider: ConfigProvider): () => void {
  const { runWithConfig } = provider
  const plain = runWithConfig.bind(provider) as ConfigProvider['runWithConfig']
  const sites = new WeakMap<CallScope['gate'], Map<string, TaskSite>>()
  provider.runWithConfig = function<Result>(config: unknown, work: () => Result,
    avoidsRootTree?: boolean): Result {
    const scope = callScope()
    const found = scope && taskSiteIn(config)
    if (scope === undefined || found === undefined)
      return plain(config, work, avoidsRootTree)
    // What runs inside of a task often has a config that lacks the attempt.
    const { site } = scope
    if (site?.taskId === found.taskId && (found.attempt ?? site.attempt) === site.attempt) {
      return plain(config, work, avoidsRootTree)
    }
    const ofGate = sites.get(scope.gate) ?? new Map<string, TaskSite>()
    sites.set(scope.gate, ofGate)
    const made = siteOf(found, ofGate)
    return callingFrom(scope, made, () => plain(config, work, avoidsRootTree))
  }
  return () => {
    provider.runWithConfig = runWithConfig
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
