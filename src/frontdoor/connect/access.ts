/** The access that each call of the typed API needs. A missing call does not compile. */

import { AssistantService } from '../../../proto/gen/frontdoor/v1/assistant_pb.js'
import { CronService } from '../../../proto/gen/frontdoor/v1/cron_pb.js'
import { RunService } from '../../../proto/gen/frontdoor/v1/run_pb.js'
import { StoreService } from '../../../proto/gen/frontdoor/v1/store_pb.js'
import { ThreadService } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import type { Access } from '../../api/index.ts'

type CallAccess<Service extends { readonly method: object }> = Readonly<
  Record<keyof Service['method'], Exclude<Access, 'public'>>
>

const ofAssistants: CallAccess<typeof AssistantService> = {
  createAssistant: 'change',
  getAssistant: 'read',
  updateAssistant: 'change',
  deleteAssistant: 'change',
  searchAssistants: 'read',
  countAssistants: 'read',
  listAssistantVersions: 'read',
  setLatestAssistantVersion: 'change',
  getAssistantGraph: 'read',
  getAssistantSchemas: 'read',
  getAssistantSubgraphs: 'read',
}

const ofThreads: CallAccess<typeof ThreadService> = {
  createThread: 'change',
  getThread: 'read',
  updateThread: 'change',
  deleteThread: 'change',
  copyThread: 'change',
  searchThreads: 'read',
  countThreads: 'read',
  getThreadState: 'read',
  updateThreadState: 'change',
  getThreadHistory: 'read',
  followThread: 'read',
}

const ofRuns: CallAccess<typeof RunService> = {
  createRun: 'change',
  streamRun: 'change',
  waitRun: 'change',
  getRun: 'read',
  listRuns: 'read',
  joinRun: 'read',
  joinRunStream: 'read',
  cancelRun: 'change',
  deleteRun: 'change',
}

const ofItems: CallAccess<typeof StoreService> = {
  putItem: 'change',
  getItem: 'read',
  deleteItem: 'change',
  searchItems: 'read',
  listNamespaces: 'read',
}

const ofCrons: CallAccess<typeof CronService> = {
  createCron: 'change',
  getCron: 'read',
  updateCron: 'change',
  deleteCron: 'change',
  searchCrons: 'read',
  countCrons: 'read',
}

/** Access by the path of the call. */
export const accessOfCalls: ReadonlyMap<string, Access> = new Map([
  ...pathsOf(AssistantService, ofAssistants),
  ...pathsOf(ThreadService, ofThreads),
  ...pathsOf(RunService, ofRuns),
  ...pathsOf(StoreService, ofItems),
  ...pathsOf(CronService, ofCrons),
])

interface Service {
  readonly typeName: string
  readonly methods: readonly { readonly name: string; readonly localName: string }[]
}

function pathsOf({ typeName, methods }: Service,
  accesses: Readonly<Record<string, Access>>): (readonly [string, Access])[] {
  return methods.map(({ name, localName }) =>
    [`/${typeName}/${name}`, accesses[localName]!] as const
  )
}
