/** Runs of this server whose threads report them again, after what was done to their projects. */

import { expect, it } from 'vitest'

import { ingestHandlers } from '../../../../src/platform/threads/ingest-handlers.ts'
import type { IngestParts } from '../../../../src/platform/threads/ingest-handlers.ts'
import type { FiledRun } from '../../../../src/platform/records/projects/former-names.ts'
import { projectsOver } from '../../../../src/platform/records/projects/catalog-projects.ts'
import type { OwnRun, SpanStore } from '../../../../src/platform/index.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { CatalogHouse } from '../catalog/catalog-house.ts'
import { ingestHouse } from './ingest-house.ts'

const tenant = 'acme'
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const all = { sortBy: 'name', descending: false, limit: 100, offset: 0 } as const

function ownHouse() {
  const house = new CatalogHouse()
  const projects = projectsOver(house.client(), { ...house.env, uuid: () => crypto.randomUUID() })
  let freedMs = 0
  const memory = memorySpans()
  /** Spans that were removed to free space, which leaves no note. */
  const freed = new Set<string>()
  const store: SpanStore = { ...memory, watchRemovals: () => {},
    freedUntilMs: async (of) => of === tenant ? freedMs : 0, write: (request) => {
      for (const { place } of request.spans) freed.delete(place.id)
      return memory.write(request)
    },
    locate: async (of, ids) => (await memory.locate(of, ids)).filter(({ id }) => !freed.has(id)) }
  const open = () =>
    ingestHandlers({ store, env: house.env, needs: {
      ownProjects: async ({ runs }: { readonly runs: readonly FiledRun[] }) =>
        (await projects.filed(tenant, runs, true)).map(({ project }) => project ?? null),
      removed: () => Promise.resolve(),
    } as unknown as IngestParts['needs'] })
  const handlers = open()
  const run = (n: number, more: Partial<OwnRun> = {}): OwnRun => ({ id: idOf(n), thread: 'x',
    assistant: 'a', graph: 'agent', startMs: house.env.nowMs(), endMs: house.env.nowMs(),
    failed: false, metadataJson: '', ...more })
  const report = (...runs: readonly OwnRun[]) => handlers.ownRuns({ tenant, runs })
  return {
    projects,
    env: house.env,
    handlers,
    /** The handlers of another member. */
    elsewhere: open(),
    run,
    report,
    /** Reports as the next owner of the threads does. */
    reportAgain: (...runs: readonly OwnRun[]) =>
      report(...runs.map((each) => ({ ...each, repeated: true }))),
    free: (...runs: readonly OwnRun[]) => {
      for (const { id } of runs) freed.add(id)
      freedMs = house.env.nowMs()
    },
    projectOf: async (id: string) => (await store.locate(tenant, [id]))[0]?.project,
    names: async () => (await projects.find(tenant, all)).projects.map(({ name }) => name),
  }
}

it('a deleted project does not come back with the runs of its threads', async () => {
  const { projects, env, run, report, reportAgain, handlers, projectOf, names } = ownHouse()
  const first = run(1)
  await report(first)
  const project = (await projectOf(first.id))!
  await projects.delete(tenant, project)
  await handlers.remove({ tenant, what: { kind: 'project', project } })
  env.advance(5_000)
  await reportAgain(first)
  expect(await names()).toEqual([])
  const later = run(2)
  await report(later)
  await reportAgain(first, later)
  expect(await names()).toEqual(['agent'])
  expect(await projectOf(first.id)).toBeUndefined()
  expect(await projectOf(later.id)).toBeDefined()
})

it('a run of a renamed project stays in it, and the name is free for the next run', async () => {
  const { projects, env, run, report, reportAgain, projectOf, names } = ownHouse()
  const [first, lost] = [run(1), run(2)]
  await report(first)
  const project = (await projectOf(first.id))!
  env.advance(5_000)
  await projects.patch(tenant, project, { name: 'prod' })
  env.advance(5_000)
  await reportAgain(first, lost)
  expect(await names()).toEqual(['prod'])
  expect(await projectOf(lost.id)).toBe(project)
  const later = run(3)
  await report(later)
  expect(await names()).toEqual(['agent', 'prod'])
  expect(await projectOf(later.id)).not.toBe(project)
  await projects.delete(tenant, project)
  await reportAgain(run(4, { startMs: first.startMs }))
  expect(await projectOf(idOf(4))).toBeUndefined()
})

it('a run that the store removed to free space is not written again', async () => {
  const { env, run, report, reportAgain, free, projectOf } = ownHouse()
  const first = run(1)
  await report(first)
  env.advance(1_000)
  free(first)
  env.advance(10_000)
  const later = run(2)
  await reportAgain(first, later)
  expect(await projectOf(first.id)).toBeUndefined()
  expect(await projectOf(later.id)).toBeDefined()
})

it('a run that was deleted before its project existed is not written', async () => {
  const { run, report, handlers, projectOf, names } = ownHouse()
  await handlers.noteRemovedRuns({ tenant, runs: [idOf(1)] })
  await report(run(1))
  // Its report does not make the project either.
  expect(await names()).toEqual([])
  await report(run(1), run(2))
  expect(await projectOf(idOf(1))).toBeUndefined()
  expect(await projectOf(idOf(2))).toBeDefined()
})

it.each([false, true])(
  'a deleted run is not written if its project was made since: reported again %s',
  async (repeated) => {
    const { env, projects, run, report, elsewhere, projectOf } = ownHouse()
    const deleted = run(1, { repeated })
    await elsewhere.noteRemovedRuns({ tenant, runs: [deleted.id] })
    env.advance(1_000)
    await projects.create(tenant, { name: 'agent' }, false)
    await report(deleted, run(2))
    expect(await projectOf(deleted.id)).toBeUndefined()
    expect(await projectOf(idOf(2))).toBeDefined()
  },
)

it('a deleted run is not written if an older project got its name since', async () => {
  const { env, projects, run, report, elsewhere, projectOf } = ownHouse()
  const { id } = await projects.create(tenant, { name: 'old' }, false)
  env.advance(60_000)
  const deleted = run(1)
  await elsewhere.noteRemovedRuns({ tenant, runs: [deleted.id] })
  env.advance(60_000)
  await projects.patch(tenant, id, { name: 'agent' })
  await report(deleted, run(2))
  expect(await projectOf(deleted.id)).toBeUndefined()
  expect(await projectOf(idOf(2))).toBe(id)
})

it('a deleted run of a member whose clock is ahead is not written', async () => {
  const { env, projects, run, report, elsewhere, projectOf } = ownHouse()
  const deleted = run(1, { startMs: env.nowMs() + 60_000 })
  await elsewhere.noteRemovedRuns({ tenant, runs: [deleted.id] })
  env.advance(1_000)
  await projects.create(tenant, { name: 'agent' }, false)
  await report(deleted)
  expect(await projectOf(deleted.id)).toBeUndefined()
})

it('steps of a run that was deleted before its project existed are rejected', async () => {
  const house = ingestHouse()
  await house.handlers.noteRemovedRuns({ tenant, runs: [idOf(1)] })
  const post = (n: number) =>
    house.send({ form: 'post', body: Buffer.from(
      JSON.stringify({ id: idOf(n), trace_id: idOf(n), name: 'step',
        dotted_order: `20260101T000000000000Z${idOf(n)}`, session_name: `agent ${n}` }),
    ) })
  await expect(post(1)).rejects.toThrow('deleted')
  expect(house.asked).toEqual([])
  expect(await post(2)).toMatchObject({ accepted: 1 })
  expect([...(await house.spans()).keys()]).toEqual([idOf(2)])
})

/** A project that is deleted under a clock that is 500 days ahead, until that is right again. */
async function deletedAhead() {
  const house = new CatalogHouse()
  const state = { aheadMs: 0 }
  const env = { ...house.env, nowMs: () => house.env.nowMs() + state.aheadMs,
    uuid: () => crypto.randomUUID() }
  const projects = projectsOver(house.client(), env)
  const [made] = await projects.named(tenant, ['agent'])
  state.aheadMs = 500 * 86_400_000
  const startedMs = env.nowMs()
  house.env.advance(1_000)
  await projects.delete(tenant, made!.id)
  state.aheadMs = 0
  house.env.advance(10_000)
  const file = async (startMs: number, repeated = false) =>
    (await projects.filed(tenant, [{ name: 'agent', startMs, repeated }], true))[0]
  return { file, startedMs, nowMs: house.env.nowMs() }
}

it('a name that was taken away under a clock that was ahead takes no later run', async () => {
  const { file, nowMs } = await deletedAhead()
  expect(await file(nowMs)).toMatchObject({ isNew: true, isDeleted: false })
  expect(await file(nowMs + 1, true)).toMatchObject({ isNew: false, isDeleted: false })
})

it('a run that started under a clock that was ahead stays in its deleted project', async () => {
  const { file, startedMs } = await deletedAhead()
  expect(await file(startedMs)).toMatchObject({ isNew: false, isDeleted: true })
  expect(await file(startedMs, true)).toMatchObject({ isNew: false, isDeleted: true })
})
