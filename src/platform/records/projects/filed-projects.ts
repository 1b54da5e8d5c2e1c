/** Finds the projects under which runs of this server are filed. */

import type { FiledRun, FormerNames } from './former-names.ts'
import type { FiledProject, Project, Projects } from './project.ts'

/** Former names, and reads of projects by id and by name. */
export interface FiledProjectsDeps {
  readonly formerNames: Pick<FormerNames, 'holders'>
  readonly get: Projects['get']
  readonly existing: (tenant: string, names: readonly string[]) => Promise<readonly Project[]>
  /** The projects of these names, made on first use, and the ids of the new projects. */
  readonly ensured: (tenant: string, names: readonly string[],
    startsMs: readonly number[]
  ) => Promise<
    { readonly projects: readonly Project[]; readonly madeIds: ReadonlySet<string> }
  >
}

/** Returns `filed` of projects. */
export function fileRuns(
  { formerNames, get, existing, ensured }: FiledProjectsDeps,
): Projects['filed'] {
  const byName = async (tenant: string, runs: readonly FiledRun[],
    make: boolean): Promise<ReadonlyMap<string, FiledProject>> => {
    const starts = new Map<string, number>()
    for (const { name, startMs } of runs) {
      starts.set(name, Math.min(startMs, starts.get(name) ?? Infinity))
    }
    const names = [...starts.keys()]
    const { projects, madeIds } = make
      ? await ensured(tenant, names, [...starts.values()])
      : { projects: await existing(tenant, names), madeIds: new Set<string>() }
    return new Map(
      projects.map((
        project,
      ) => [project.name, { project, isDeleted: false, isNew: madeIds.has(project.id) }]),
    )
  }
  return async (tenant, runs, make) => {
    const formers = await formerNames.holders(tenant, runs)
    const [held, named] = await Promise.all([
      get(tenant, [...new Set(formers.filter((id) => id !== undefined))], make),
      byName(tenant, runs.filter((_, at) => formers[at] === undefined), make),
    ])
    // The name may have been taken away since, so that this call made the project again.
    const isNew = [...named.values()].some((each) => each.isNew)
    const since = isNew ? await formerNames.holders(tenant, runs) : formers
    return runs.map(({ name }, at) => {
      if (since[at] === undefined) {
        return named.get(name) ?? { project: undefined, isNew: false, isDeleted: false }
      }
      const project = held.find(({ id }) => id === since[at])
      return { project, isNew: false, isDeleted: project === undefined }
    })
  }
}
