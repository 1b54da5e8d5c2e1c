/** Changes of the tags of runs. Pure. */

/** Tags that a run has at most: filters find no more of them. */
const tagsMax = 100

/** A run with its tags. */
export interface TaggedRun {
  readonly id: string
  readonly tags: readonly string[] | null
}

/** Changes of the runs that do not have the tag. Throws if one of them has too many. */
export function tagChanges(projectId: string, runs: readonly TaggedRun[], tag: string) {
  return runs.filter(({ tags }) => !tags?.includes(tag)).map(({ id, tags }) => {
    if ((tags?.length ?? 0) >= tagsMax) throw new Error(`A trace has ${tagsMax} tags already.`)
    return { id, session_id: projectId, tags: [...tags ?? [], tag] }
  })
}
