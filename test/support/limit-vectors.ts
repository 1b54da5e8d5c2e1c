/** Requests to the platform, and the limit that each falls under in the region `us`. */

/** What a request has besides its address. */
export interface Shown {
  readonly key?: boolean
  readonly user?: boolean
}

export const [key, user, both, none]: readonly [Shown, Shown, Shown, Shown] = [{ key: true }, {
  user: true,
}, { key: true, user: true }, {}]

/** An id in paths that need one. */
export const vectorId = '0b1d7e7e-2a5f-4c0e-9d3e-5d8f3a1b2c4d'

/** Method, bare path, what is shown, and the limit: its name, `count/seconds`, its identity. */
export const limitVectors:
  readonly (readonly [method: string, target: string, shown: Shown, name: string, limit: string,
    identity: string])[] = [
    ['OPTIONS', '/runs/query', none, 'edge', '2000/10', 'IP'],
    ['GET', '/info', key, 'edge', '2000/10', 'IP'],
    ['GET', '/api/v1/info?', key, 'edge', '2000/10', 'IP'],
    ['POST', '/v1/metadata/submit', key, 'edge', '2000/10', 'IP'],
    ['POST', '/runs', key, 'runs-create', '2000/10', 'x-api-key'],
    ['POST', '/runs/', key, 'runs-create', '2000/10', 'x-api-key'],
    ['POST', '/api/v1/runs/batch', key, 'runs-batch', '2000/10', 'x-api-key'],
    ['POST', '/runs/multipart', user, 'default-user', '1000/10', 'x-user-id + IP'],
    ['POST', '/runs/query', key, 'runs-query-key', '15/10', 'x-api-key'],
    ['POST', '/runs/query', user, 'runs-query-user', '300/10', 'x-user-id + IP'],
    ['POST', '/runs/query', both, 'runs-query-key', '15/10', 'x-api-key'],
    ['POST', '/api/v2/runs/query', key, 'default-key', '1000/10', 'x-api-key'],
    ['GET', `/runs/${vectorId}?`, key, 'run-lookup', '30/60', 'x-api-key'],
    ['GET', `/runs/${vectorId}/share`, key, 'default-key', '1000/10', 'x-api-key'],
    ['PATCH', `/runs/${vectorId}`, key, 'runs-update', '2000/10', 'x-api-key'],
    ['PATCH', `/annotation-queues/${vectorId}/runs/${vectorId}`, key, 'runs-update', '2000/10',
      'x-api-key'],
    ['POST', '/runs/stats', key, 'runs-stats', '1/10', 'x-api-key'],
    ['POST', `/runs/rules/${vectorId}/trigger`, key, 'deletion-key', '10/60', 'x-api-key'],
    ['POST', `/runs/rules/${vectorId}/trigger`, user, 'deletion-user', '30/60', 'x-user-id + IP'],
    ['POST', '/runs/rules/trigger', key, 'deletion-key', '10/60', 'x-api-key'],
    ['POST', '/runs/rules/trigger', user, 'deletion-user', '30/60', 'x-user-id + IP'],
    ['GET', '/runs/rules', key, 'default-key', '1000/10', 'x-api-key'],
    ['POST', '/v1/platform/evaluators', key, 'default-key', '1000/10', 'x-api-key'],
    ['DELETE', `/sessions/${vectorId}`, key, 'deletion-key', '10/60', 'x-api-key'],
    ['GET', '/sessions?name=x', key, 'default-key', '1000/10', 'x-api-key'],
    ['GET', '/commits/-/p/latest', key, 'commits-key', '10000/60', 'x-api-key'],
    ['GET', '/commits/o/p/latest', none, 'catch-all', '100/60', 'IP'],
    ['POST', '/commits/-/p', user, 'commits-user', '10000/60', 'x-user-id + IP'],
    ['GET', '/commits/p/?limit=1', key, 'commits-key', '10000/60', 'x-api-key'],
    ['POST', '/repos/-/p/tags', key, 'repos-key', '100/60', 'x-api-key'],
    ['POST', '/repos/', key, 'repos-key', '100/60', 'x-api-key'],
    ['GET', '/repos?is_archived=false', user, 'repos-user', '100/60', 'x-user-id + IP'],
    ['GET', '/settings?', key, 'default-key', '1000/10', 'x-api-key'],
    ['POST', '/likes/-/p', key, 'default-key', '1000/10', 'x-api-key'],
    ['GET', '/v1/platform/hub/repos/-/p/directories', key, 'default-key', '1000/10', 'x-api-key'],
    ['POST', `/datasets/${vectorId}/generate`, key, 'generate-key', '30/3600', 'x-api-key'],
    ['POST', '/charts/preview', user, 'charts-user', '750/600', 'x-user-id + IP'],
    ['GET', '/examples?dataset=x', user, 'default-user', '1000/10', 'x-user-id + IP'],
    ['GET', '/public/download?jwt=x', key, 'public-download', '5000/60', 'IP'],
    ['GET', '/download?jwt=x', none, 'catch-all', '100/60', 'IP'],
    ['PUT', `/datasets/${vectorId}/share`, key, 'default-key', '1000/10', 'x-api-key'],
    ['POST', '/annotation-queues', key, 'default-key', '1000/10', 'x-api-key'],
    ['POST', '/public/token/runs/query', none, 'catch-all', '100/60', 'IP'],
    ['GET', '/public/token/run', none, 'catch-all', '100/60', 'IP'],
  ]
