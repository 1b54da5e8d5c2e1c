/** For each operation: the request that access.test.ts sends, and what other tenants may see. */

/** Ids of what one tenant owns. */
export interface Belongings {
  readonly threadId: string
  readonly assistantId: string
  readonly runId: string
  readonly checkpointId: string
  /** A run without a thread. */
  readonly lonelyRunId: string
  readonly cronId: string
  /** The id of its API key. */
  readonly keyId: string
}

/** A text in everything that belongs to the first tenant, and in nothing else. */
export const mark = 'only-for-acme'

/**
 * nothing  asked for by id: 404
 * own      the answer holds only what the caller's tenant owns
 * zero     the answer is a count, and it is 0
 * all      every caller is answered
 * stream   it never ends; protocol-v2-access.test.ts reads it
 * admins   only admins are answered
 */
export type Sight = 'nothing' | 'own' | 'zero' | 'all' | 'stream' | 'admins'

export interface Case {
  readonly does: 'read' | 'change' | 'public' | 'admin'
  readonly sees: Sight
  readonly body?: (of: Belongings) => object
  /** Of the URL. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Who may see it gets an answer that does not end. */
  readonly isEndless?: boolean
  /** The project has none of it: 404 for everybody. */
  readonly isAbsent?: boolean
}

const read = (sees: Sight, body?: Case['body']): Case => ({ does: 'read', sees, body })
const change = (sees: Sight, body?: Case['body']): Case => ({ does: 'change', sees, body })

const admin = (body?: Case['body']): Case => ({ does: 'admin', sees: 'admins', body })

const marked = () => ({ metadata: { mark } })
const ofGraph = () => ({ assistant_id: 'echo', input: { messages: [] } })
const ofAssistant = ({ assistantId }: Belongings) => ({ assistant_id: assistantId,
  input: { messages: [] } })
const at = ({ checkpointId }: Belongings) => ({ checkpoint: { checkpoint_id: checkpointId } })

/** An item of the first tenant. */
export const theItem = { namespace: ['notes'], key: 'secret' }
const yearly = () => ({ assistant_id: 'echo', schedule: '0 0 1 1 *' })
const cronOf = ({ assistantId }: Belongings) => ({ ...yearly(), assistant_id: assistantId })

const toolSession = { 'mcp-session-id': 'f-00000000-0000-4000-8000-000000000000' }

/** By method and path, as in /openapi.json. */
export const routeCases: Readonly<Record<string, Case>> = {
  'GET /ok': { does: 'public', sees: 'all' },
  'GET /info': { does: 'public', sees: 'all' },
  'GET /auth': read('own'),
  'GET /limits': read('own'),
  'GET /limits/refused': admin(),
  'GET /keys': admin(),
  'POST /keys': admin(() => ({ name: 'taken' })),
  'DELETE /keys/{key_id}': admin(),
  'GET /cluster': admin(),
  'GET /cluster/stream': admin(),
  'POST /assistants': change('own', () => ({ graph_id: 'echo' })),
  'GET /assistants/{assistant_id}': read('nothing'),
  'PATCH /assistants/{assistant_id}': change('nothing', () => ({ name: 'taken' })),
  'DELETE /assistants/{assistant_id}': change('nothing'),
  'POST /assistants/search': read('own', () => ({ limit: 1_000 })),
  'POST /assistants/count': read('zero', marked),
  'POST /assistants/{assistant_id}/versions': read('nothing', () => ({})),
  'POST /assistants/{assistant_id}/latest': change('nothing', () => ({ version: 1 })),
  'GET /assistants/{assistant_id}/graph': read('nothing'),
  'GET /assistants/{assistant_id}/schemas': read('nothing'),
  'GET /assistants/{assistant_id}/subgraphs': read('nothing'),
  'GET /assistants/{assistant_id}/subgraphs/{namespace}': read('nothing'),
  'POST /threads': change('own', () => ({})),
  'GET /threads/{thread_id}': read('nothing'),
  'PATCH /threads/{thread_id}': change('nothing', () => ({ metadata: { taken: true } })),
  'DELETE /threads/{thread_id}': change('nothing'),
  'POST /threads/{thread_id}/copy': change('nothing', () => ({})),
  'POST /threads/prune': change('own', ({ threadId }) => ({ thread_ids: [threadId] })),
  'PATCH /threads/{thread_id}/state': change('nothing', () => ({ metadata: { taken: true } })),
  'GET /threads/{thread_id}/storage': read('nothing'),
  'GET /threads/{thread_id}/usage': read('nothing'),
  'GET /threads/{thread_id}/place': admin(),
  'GET /threads/{thread_id}/stream': { ...read('nothing'), isEndless: true },
  'POST /runs/search': read('own', () => ({ limit: 1_000 })),
  'POST /threads/search': read('own', ({ threadId }) => ({ ids: [threadId] })),
  'POST /threads/count': read('zero', marked),
  'GET /threads/{thread_id}/state': read('nothing'),
  'POST /threads/{thread_id}/state': change('nothing', () => ({ values: { messages: [] } })),
  'GET /threads/{thread_id}/state/{checkpoint_id}': read('nothing'),
  'POST /threads/{thread_id}/state/checkpoint': read('nothing', at),
  'GET /threads/{thread_id}/history': read('nothing'),
  'POST /threads/{thread_id}/history': read('nothing', () => ({})),
  'POST /threads/{thread_id}/commands': change('nothing',
    () => ({ id: 1, method: 'input.respond',
      params: { interrupt_id: 'f'.repeat(32), response: 'taken' } })),
  'POST /threads/{thread_id}/stream/events': read('stream', () => ({ channels: ['values'] })),
  'GET /threads/{thread_id}/stream/events': read('stream'),
  'GET /threads/{thread_id}/runs': read('nothing'),
  'POST /threads/{thread_id}/runs': change('nothing', ofGraph),
  'POST /threads/{thread_id}/runs/stream': change('nothing', ofGraph),
  'POST /threads/{thread_id}/runs/wait': change('nothing', ofGraph),
  'GET /threads/{thread_id}/runs/{run_id}': read('nothing'),
  'GET /threads/{thread_id}/runs/{run_id}/logs': read('nothing'),
  'GET /threads/{thread_id}/runs/{run_id}/effects': read('nothing'),
  'GET /threads/{thread_id}/runs/{run_id}/calls': read('nothing'),
  'GET /threads/{thread_id}/runs/{run_id}/calls/{no}': read('nothing'),
  'DELETE /threads/{thread_id}/runs/{run_id}': change('nothing'),
  'GET /threads/{thread_id}/runs/{run_id}/join': read('nothing'),
  'GET /threads/{thread_id}/runs/{run_id}/stream': read('nothing'),
  'POST /threads/{thread_id}/runs/{run_id}/cancel': change('nothing', () => ({})),
  'POST /runs': change('nothing', ofAssistant),
  'POST /runs/stream': change('nothing', ofAssistant),
  'POST /runs/wait': change('nothing', ofAssistant),
  'POST /runs/batch': change('nothing', (of) => [ofAssistant(of)]),
  'POST /runs/cancel': change('nothing',
    ({ threadId, runId }) => ({ thread_id: threadId, run_ids: [runId] })),
  'GET /runs/{run_id}/stream': read('nothing'),
  'PUT /store/items': change('own', () => ({ ...theItem, value: {} })),
  'GET /store/items': { ...read('own'), query: '?namespace=notes&key=secret' },
  'DELETE /store/items': change('own', () => theItem),
  'POST /store/items/search': read('own', () => ({ namespace_prefix: [] })),
  'POST /store/namespaces': read('own', () => ({})),
  'POST /a2a/{assistant_id}': read('nothing',
    () => ({ jsonrpc: '2.0', id: 1, method: 'ListTasks' })),
  'GET /a2a/{assistant_id}/.well-known/agent-card.json': read('nothing'),
  'GET /.well-known/agent-card.json': { ...read('own'), query: '?assistant_id=echo' },
  'POST /ui/{graph_id}': { ...read('nothing', () => ({ name: 'card' })), isAbsent: true },
  'GET /ui/{graph_id}/{file}': { does: 'public', sees: 'all', isAbsent: true },
  'POST /mcp': read('own', () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' })),
  'GET /mcp': { ...read('stream'), isEndless: true, headers: toolSession },
  'DELETE /mcp': { ...change('own'), headers: toolSession },
  'GET /.well-known/oauth-protected-resource/mcp': { does: 'public', sees: 'all' },
  'GET /.well-known/oauth-protected-resource/a2a/{assistant_id}': { does: 'public', sees: 'all' },
  'POST /runs/crons': change('nothing', cronOf),
  'POST /threads/{thread_id}/runs/crons': change('nothing', yearly),
  'GET /runs/crons/{cron_id}': read('nothing'),
  'PATCH /runs/crons/{cron_id}': change('nothing', () => ({ enabled: false })),
  'DELETE /runs/crons/{cron_id}': change('nothing'),
  'POST /runs/crons/search': read('own', () => ({ limit: 1_000 })),
  'POST /runs/crons/count': read('zero', marked),
  'POST /runs/crons/preview': read('all', () => ({ schedule: '0 0 1 1 *' })),
  'POST /runs/crons/{cron_id}/trigger': change('nothing'),
  'POST /runs/crons/last-runs': read('own', ({ cronId }) => ({ cron_ids: [cronId] })),
}

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const theThread = ({ threadId }: Belongings) => ({ threadId })
const theAssistant = ({ assistantId }: Belongings) => ({ assistantId })
const theRun = ({ threadId, runId }: Belongings) => ({ threadId, runId })
const aRun = ({ threadId }: Belongings) => ({
  run: { threadId, assistantId: 'echo', inputJson: bytes({ messages: [] }) },
})
const theCron = ({ cronId }: Belongings) => ({ cronId })
const like = () => ({ metadataJson: bytes({ mark }) })

/** By service and call. */
export const callCases: Readonly<Record<string, Case>> = {
  'AssistantService.createAssistant': change('own', () => ({ graphId: 'echo' })),
  'AssistantService.getAssistant': read('nothing', theAssistant),
  'AssistantService.updateAssistant': change('nothing',
    (of) => ({ ...theAssistant(of), name: 'taken' })),
  'AssistantService.deleteAssistant': change('nothing', theAssistant),
  'AssistantService.searchAssistants': read('own', () => ({ page: { limit: 1_000 } })),
  'AssistantService.countAssistants': read('zero', like),
  'AssistantService.listAssistantVersions': read('nothing', theAssistant),
  'AssistantService.setLatestAssistantVersion': change('nothing',
    (of) => ({ ...theAssistant(of), version: 1 })),
  'AssistantService.getAssistantGraph': read('nothing', theAssistant),
  'AssistantService.getAssistantSchemas': read('nothing', theAssistant),
  'AssistantService.getAssistantSubgraphs': read('nothing', theAssistant),
  'ThreadService.createThread': change('own', () => ({})),
  'ThreadService.getThread': read('nothing', theThread),
  'ThreadService.updateThread': change('nothing',
    (of) => ({ ...theThread(of), metadataJson: bytes({ taken: true }) })),
  'ThreadService.deleteThread': change('nothing', theThread),
  'ThreadService.copyThread': change('nothing', theThread),
  'ThreadService.searchThreads': read('own', ({ threadId }) => ({ threadIds: [threadId] })),
  'ThreadService.countThreads': read('zero', like),
  'ThreadService.getThreadState': read('nothing',
    (of) => ({ ...theThread(of), checkpoint: { checkpointId: of.checkpointId } })),
  'ThreadService.updateThreadState': change('nothing',
    (of) => ({ ...theThread(of), update: { valuesJson: bytes({ messages: [] }) } })),
  'ThreadService.getThreadHistory': read('nothing', theThread),
  'ThreadService.followThread': { ...read('nothing', theThread), isEndless: true },
  'RunService.createRun': change('nothing', aRun),
  'RunService.streamRun': change('nothing', aRun),
  'RunService.waitRun': change('nothing', aRun),
  'RunService.getRun': read('nothing', theRun),
  'RunService.listRuns': read('nothing', theThread),
  'RunService.joinRun': read('nothing', theRun),
  'RunService.joinRunStream': read('nothing', theRun),
  'RunService.cancelRun': change('nothing', theRun),
  'RunService.deleteRun': change('nothing', theRun),
  'StoreService.putItem': change('own', () => ({ ...theItem, valueJson: bytes({}) })),
  'StoreService.getItem': read('own', () => theItem),
  'StoreService.deleteItem': change('own', () => theItem),
  'StoreService.searchItems': read('own', () => ({})),
  'StoreService.listNamespaces': read('own', () => ({})),
  'CronService.createCron': change('nothing',
    ({ assistantId }) => ({ assistantId, times: { schedule: '0 0 1 1 *' } })),
  'CronService.getCron': read('nothing', theCron),
  'CronService.updateCron': change('nothing',
    (of) => ({ ...theCron(of), times: { enabled: false } })),
  'CronService.deleteCron': change('nothing', theCron),
  'CronService.searchCrons': read('own', () => ({ page: { limit: 1_000 } })),
  'CronService.countCrons': read('zero', like),
}
