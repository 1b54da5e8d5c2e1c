/** The routes of shares and of annotation queues, called with the ids of somebody else. */

import type { Belongings, Case } from './isolation-cases.ts'

const unknown = '0b1d7e7e-2a5f-4c0e-9d3e-5d8f3a1b2c4d'

/** Addresses of pages: they lead to the Studio, and say nothing. */
const pageLinks = ['/o/:tenant', '/o/:tenant/projects', '/o/:tenant/projects/p/:project',
  '/o/:tenant/projects/p/:project/r/:run', '/o/:tenant/datasets', '/o/:tenant/datasets/:dataset',
  '/o/:tenant/datasets/:dataset/compare', '/o/:tenant/host/deployments',
  '/o/:tenant/host/deployments/:deployment', '/public/:token/r', '/public/:token/d',
  '/prompts/:name', '/prompts/:name/:commit', '/context/:name', '/context/:name/:commit',
  '/hub/:owner/:name', '/hub/:owner/:name/:commit']

/** Cases of shares and links. */
export function shareCases({ project, trace, child, thread }: Belongings): readonly Case[] {
  const one = (access: Case['access'], route: string, path: string, body?: unknown): Case => ({
    route,
    path,
    body,
    access,
  })
  return [
    one('read', 'GET /runs/:id/share', `/api/v1/runs/${trace}/share`),
    one('change', 'PUT /runs/:id/share', `/api/v1/runs/${child}/share`, {}),
    one('change', 'DELETE /runs/:id/share', `/api/v1/runs/${trace}/share`),
    one('change', 'POST /runs/:id/share', `/api/v2/runs/${trace}/share`, { session_id: project,
      trace_id: trace }),
    one('change', 'DELETE /runs/:id/share', `/api/v2/runs/${trace}/share`, { session_id: project }),
    one('read', 'GET /threads/:id/share', `/api/v2/threads/${thread}/share?project_id=${project}`),
    one('change', 'POST /threads/:id/share', `/api/v2/threads/${thread}/share`, {
      project_id: project,
    }),
    one('change', 'DELETE /threads/:id/share',
      `/api/v2/threads/${thread}/share?project_id=${project}`),
    one('public', 'GET /public/:token/run', `/api/v1/public/${unknown}/run`),
    one('public', 'GET /public/:token/run', `/api/v1/public/${trace}/run`),
    one('public', 'GET /public/:token/run/:id', `/api/v1/public/${unknown}/run/${trace}`),
    one('public', 'GET /public/:token/run/:id', `/api/v2/public/${unknown}/run/${trace}`),
    one('public', 'GET /public/:token/runs', `/api/v1/public/${unknown}/runs?id=${trace}`),
    one('public', 'POST /public/:token/runs/query', `/api/v1/public/${unknown}/runs/query`, {
      id: [trace],
    }),
    one('public', 'POST /public/:token/runs/query', `/api/v2/public/${unknown}/runs/query`, {
      ids: [trace],
    }),
    one('public', 'GET /public/:token/feedbacks', `/api/v1/public/${unknown}/feedbacks`),
    one('public', 'POST /public/:token/datasets/runs', `/api/v1/public/${unknown}/datasets/runs`,
      {}),
    ...['examples/runs', 'datasets/runs/query', 'datasets/runs/stats'].map((path) =>
      one('public', `POST /public/:token/${path}`, `/api/v1/public/${unknown}/${path}`, {})
    ),
    one('public', 'GET /public/:token/datasets/runs/:run',
      `/api/v1/public/${unknown}/datasets/runs/${trace}`),
    one('public', 'GET /public/datasets/sessions-bulk',
      `/api/v1/public/datasets/sessions-bulk?share_tokens=${unknown}`),
    ...['datasets', 'examples', 'examples/count', 'datasets/sessions', 'datasets/comparative',
      'datasets/feedback'].map((path) =>
        one('public', `GET /public/:token/${path}`, `/api/v1/public/${unknown}/${path}`)
      ),
    ...pageLinks.map((route) =>
      one('public', `GET ${route}`, `/api/v1${route.replaceAll(/:\w+/g, trace)}`)
    ),
    one('public', 'GET /public/download', '/api/v1/public/download?jwt=a.b.c'),
    one('public', 'GET /download', '/api/v1/download?jwt=a.b.c'),
  ]
}

/** Cases of annotation queues. */
export function queueCases({ queue, item, trace, project }: Belongings): readonly Case[] {
  const root = '/annotation-queues'
  const items = '/platform/annotation-queues'
  const one = (access: Case['access'], route: string, path: string, body?: unknown): Case => ({
    route,
    path: `/api/v1${path}`,
    body,
    access,
  })
  return [
    one('read', `GET ${root}`, root),
    one('read', `GET ${root}`, `${root}?ids=${queue}`),
    one('read', `GET ${root}/:id`, `${root}/${queue}`),
    one('read', `GET ${root}/:id/queues`, `${root}/${trace}/queues`),
    one('read', `GET ${root}/:queue/runs`, `${root}/${queue}/runs`),
    one('read', `GET ${root}/:queue/run/:index`, `${root}/${queue}/run/0`),
    one('read', `GET ${root}/:queue/size`, `${root}/${queue}/size`),
    one('read', `GET ${root}/:queue/total_size`, `${root}/${queue}/total_size`),
    one('read', `GET ${root}/:queue/total_archived`, `${root}/${queue}/total_archived`),
    one('read', `GET ${items}/:queue/items`, `${items}/${queue}/items`),
    one('read', `GET ${items}/:queue/items/count`, `${items}/${queue}/items/count`),
    one('read', `GET ${items}/:queue/items/:item/placement`,
      `${items}/${queue}/items/${item}/placement`),
    one('change', `POST ${root}`, root, { name: 'taken', id: queue }),
    one('change', `PATCH ${root}/:id`, `${root}/${queue}`, { name: 'taken' }),
    one('change', `POST ${root}/:queue/runs`, `${root}/${queue}/runs`, [trace]),
    one('change', `POST ${root}/:queue/runs/by-key`, `${root}/${queue}/runs/by-key`, [{
      run_id: trace,
    }]),
    one('change', `PATCH ${root}/:queue/runs/:run`, `${root}/${queue}/runs/${trace}`, {
      added_at: '2020-01-01T00:00:00Z',
    }),
    one('change', `POST ${root}/populate`, `${root}/populate`, { queue_id: queue,
      session_ids: [project] }),
    one('change', `POST ${items}/:queue/items`, `${items}/${queue}/items`, {
      items: [{ run_id: trace }],
    }),
    one('change', `PATCH ${items}/:queue/items/:item`, `${items}/${queue}/items/${item}`, {
      added_at: '2020-01-01T00:00:00Z',
    }),
    one('change', `POST ${items}/items/:item/status`, `${items}/items/${item}/status`, {
      status: 'completed',
    }),
    one('change', `POST ${root}/status/:item`, `${root}/status/${item}`, { status: 'completed' }),
    one('change', `POST ${items}/:queue/items/delete`, `${items}/${queue}/items/delete`, {
      item_ids: [item],
    }),
    one('change', `POST ${root}/:queue/runs/delete`, `${root}/${queue}/runs/delete`, {
      delete_all: true,
    }),
    one('change', `DELETE ${root}/:queue/runs/:run`, `${root}/${queue}/runs/${trace}`),
    one('change', `DELETE ${root}/:id`, `${root}/${queue}`),
  ]
}
