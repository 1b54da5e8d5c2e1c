/** Reports on the use of a deployment's revisions, and on the effects of another revision. */

import { reportOf } from '../../deployment/index.ts'
import type { CountRevisionUse, Deployment, Deployments, DeploymentSecrets, DeploymentUse,
  ReportRevision, RevisionUse } from '../../deployment/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import type { ScatteredIndex } from '../../search/index.ts'
import { revisionUse } from '../../thread/index.ts'

/** Records, indexes and secrets that reports are made from. */
export interface ReportParts {
  readonly records: Pick<Deployments, 'get' | 'revision'>
  readonly secrets: Pick<DeploymentSecrets, 'list'>
  readonly everybody: Pick<ScatteredIndex, 'threads'>
  /** Finds all namespaces that may have data of a deployment. */
  readonly namespaces: DeploymentUse['namespaces']
}

/** Namespaces that are counted. With more, it is not known what is in use. */
const namespacesMax = 200

type NamespaceUse = NonNullable<Awaited<ReturnType<typeof revisionUse>>>

/** Counts runs and waiting threads of all callers with data in a deployment. */
export function useCounter(parts: ReportParts): CountRevisionUse {
  return async (name) => {
    const found = await usesOf(parts, await parts.records.get(name))
    if (found === undefined) return null
    const use = new Map<string, RevisionUse>()
    for (const { running, waiting } of found) {
      for (const revision of new Set([...running.keys(), ...waiting.keys()])) {
        const before = use.get(revision) ?? { running: 0, waitingThreads: 0 }
        use.set(revision, { running: before.running + (running.get(revision) ?? 0),
          waitingThreads: before.waitingThreads + (waiting.get(revision) ?? 0) })
      }
    }
    return use
  }
}

/** Compares a revision with the active one. */
export function revisionReporter(parts: ReportParts): ReportRevision {
  const { records, secrets } = parts
  return async (deployment, revision) => {
    const { active, id, preview } = deployment
    const original = preview && await records.get(preview.of).catch(ignoreNotFound)
    const inherits = original && original.tenant === deployment.tenant
    const [before, uses, names, inherited] = await Promise.all([
      active === null ? undefined : records.revision(deployment, active),
      usesOf(parts, deployment),
      secrets.list(id),
      inherits ? secrets.list(original.id) : [],
    ])
    const waiting = uses?.flatMap(({ waitingAt }) =>
      waitingAt.map(({ graphId: graph_id, node, threads }) => ({ graph_id, node, threads }))
    )
    return reportOf({ before: before?.graphs ?? [], after: revision.graphs, waiting: waiting ?? [],
      wantsEnv: revision.wantsEnv, secretNames: [...names, ...inherited].map(({ name }) => name) })
  }
}

/** Uses by namespace; undefined if there are too many namespaces. */
async function usesOf({ everybody: { threads }, namespaces }: ReportParts,
  deployment: Deployment): Promise<readonly NamespaceUse[] | undefined> {
  const all = await namespaces(deployment)
  if (all.length > namespacesMax) return undefined
  const found: NamespaceUse[] = []
  for (const namespace of all) {
    const use = await revisionUse(threads, namespace)
    if (use === undefined) return undefined
    found.push(use)
  }
  return found
}
