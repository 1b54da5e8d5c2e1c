/** Operations on projects, spans and feedback, and on the traces of runs. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { send } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Reply, Request, Span } from './session.ts'

/** Number of projects that clients share. */
const sharedProjects = 3
const queryLimit = 100
/** Polls for a deletion of all spans of a project. */
const [purgeTries, purgeDelayMs] = [20, 100]

/** Sends a request of the platform. */
function sendTrace(operation: string, { session, client }: Scene,
  { path, ...request }: Omit<Request, 'operation'>): Promise<Reply> {
  return session.call(client.number, { operation, path: `/api/v1${path}`, ...request },
    client.signal)
}

const createProject: Operation = {
  name: 'project.create',
  weight: 3,
  async execute(scene) {
    const { session } = scene
    if (session.projects.length >= sharedProjects) return
    const { status, response } = await sendTrace('project.create', scene, {
      method: 'POST',
      path: '/sessions',
      body: { name: `verify ${session.createToken()}` },
    })
    if (status === 200) session.projects.push((response as { id: string }).id)
  },
}

/** Deletes a project with all of its spans. Clients with a span in it continue to use it. */
const deleteProject: Operation = {
  name: 'project.delete',
  weight: 0.3,
  async execute(scene) {
    const { session: { projects }, client: { chance } } = scene
    if (projects.length === 0) return
    const [project] = projects.splice(chance.below(projects.length), 1)
    await sendTrace('project.delete', scene, { method: 'DELETE', path: `/sessions/${project}`,
      projectId: project })
  },
}

/** Deletes all spans of a project that have arrived, and waits for it. */
const purgeProject: Operation = {
  name: 'span.purge',
  weight: 0.3,
  async execute(scene) {
    const { session: { projects }, client: { chance } } = scene
    if (projects.length === 0) return
    const project = chance.pick(projects)
    const { response } = await sendTrace('span.purge', scene, { method: 'POST',
      path: '/bulk-deletions', body: { session: [project], start_time: '1970-01-01' },
      projectId: project })
    const { id } = (response ?? {}) as { id?: string }
    if (id === undefined) return
    for (let tries = 0; tries < purgeTries; tries++) {
      const deletion = await sendTrace('purge.get', scene, { method: 'GET',
        path: `/bulk-deletions/${id}` })
      if ((deletion.response as { status?: string } | undefined)?.status === 'Completed') return
      await pause(purgeDelayMs)
    }
  },
}

const queryProject: Operation = {
  name: 'span.query',
  weight: 3,
  async execute(scene) {
    const { session: { projects }, client: { chance } } = scene
    if (projects.length === 0) return
    const project = chance.pick(projects)
    await sendTrace('span.query', scene, {
      method: 'POST',
      path: '/runs/query',
      body: { session: [project], limit: queryLimit, select: ['id'] },
      projectId: project,
    })
  },
}

/** The operations of a batch on a span: its post, with inputs, or a patch, with outputs. */
function toBatch({ id, project, startMs }: Span, content: object) {
  const stamp = new Date(startMs).toISOString().replaceAll(/[-:.Z]/g, '')
  return [{ id, trace_id: id, dotted_order: `${stamp}000Z${id}`, session_id: project,
    name: 'verify', run_type: 'chain', start_time: startMs, ...content }]
}

const postSpan: Operation = {
  name: 'span.post',
  weight: 6,
  async execute(scene) {
    const { session, client: { chance, number } } = scene
    if (session.projects.length === 0) return
    const span = { id: randomUUID(), project: chance.pick(session.projects), startMs: Date.now() }
    session.spans.set(number, span)
    await sendTrace('span.post', scene, {
      method: 'POST',
      path: '/runs/batch',
      body: { post: toBatch(span, { inputs: { token: session.createToken() } }) },
      spanId: span.id,
      projectId: span.project,
    })
  },
}

/** An operation on the newest span of the client, which no other client writes. */
function onSpan(name: string, weight: number,
  toRequest: (span: Span, token: string) => Pick<Request, 'method' | 'path' | 'body'>): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const { session, client } = scene
      const span = session.spans.get(client.number)
      if (span === undefined) return
      await sendTrace(name, scene, { ...toRequest(span, session.createToken()), spanId: span.id,
        projectId: span.project })
    },
  }
}

/** Reads the trace of a run, which the server writes itself. */
const getTrace: Operation = {
  name: 'trace.get',
  weight: 3,
  async execute(scene) {
    const { thread: { runs }, client: { chance } } = scene
    if (runs.length === 0) return
    await send('trace.get', scene, { method: 'GET', path: `/api/v1/runs/${chance.pick(runs)}` })
  },
}

export const traceOperations: readonly Operation[] = [
  createProject,
  deleteProject,
  purgeProject,
  queryProject,
  postSpan,
  getTrace,
  onSpan('span.patch', 4, (span, token) => ({
    method: 'POST',
    path: '/runs/batch',
    body: { patch: toBatch(span, { end_time: span.startMs + 1, outputs: { token } }) },
  })),
  onSpan('span.get', 6, ({ id }) => ({ method: 'GET', path: `/runs/${id}` })),
  onSpan('span.delete', 2, ({ id, project }) => ({
    method: 'POST',
    path: '/runs/delete',
    body: { session_id: project, trace_ids: [id] },
  })),
  onSpan('feedback.create', 3, ({ id, project }, token) => ({
    method: 'POST',
    path: '/feedback',
    body: { id: randomUUID(), run_id: id, session_id: project, key: 'verify', comment: token },
  })),
  onSpan('feedback.list', 3, ({ id }) => ({ method: 'GET', path: `/feedback?run=${id}` })),
]
