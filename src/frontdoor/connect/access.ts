/** The operations of each call of the typed API. A missing call does not compile. */

import { AssistantService } from '../../../proto/gen/frontdoor/v1/assistant_pb.js'
import { CronService } from '../../../proto/gen/frontdoor/v1/cron_pb.js'
import { RunService } from '../../../proto/gen/frontdoor/v1/run_pb.js'
import { StoreService } from '../../../proto/gen/frontdoor/v1/store_pb.js'
import { ThreadService } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import * as contract from '../../api/index.ts'
import type { Access, Operation } from '../../api/index.ts'

/** An operation that needs credentials. */
type Guarded = Operation & { readonly access: Exclude<Access, 'public'> }

type CallOperations<Service extends { readonly method: object }> = Readonly<
  Record<keyof Service['method'], readonly [Guarded, ...Guarded[]]>
>

const ofAssistants: CallOperations<typeof AssistantService> = {
  createAssistant: [contract.createAssistant],
  getAssistant: [contract.getAssistant],
  updateAssistant: [contract.updateAssistant],
  deleteAssistant: [contract.deleteAssistant],
  searchAssistants: [contract.searchAssistants],
  countAssistants: [contract.countAssistants],
  listAssistantVersions: [contract.listAssistantVersions],
  setLatestAssistantVersion: [contract.setLatestAssistantVersion],
  getAssistantGraph: [contract.getAssistantGraph],
  getAssistantSchemas: [contract.getAssistantSchemas],
  getAssistantSubgraphs: [contract.getAssistantSubgraphs, contract.getAssistantSubgraph],
}

const ofThreads: CallOperations<typeof ThreadService> = {
  createThread: [contract.createThread],
  getThread: [contract.getThread],
  updateThread: [contract.updateThread],
  deleteThread: [contract.deleteThread],
  copyThread: [contract.copyThread],
  searchThreads: [contract.searchThreads],
  countThreads: [contract.countThreads],
  getThreadState: [contract.getThreadState, contract.getThreadStateAtCheckpoint,
    contract.postThreadStateAtCheckpoint],
  updateThreadState: [contract.updateThreadState],
  getThreadHistory: [contract.getThreadHistory, contract.postThreadHistory],
  followThread: [contract.streamThreadEvents],
}

const ofRuns: CallOperations<typeof RunService> = {
  createRun: [contract.createRun, contract.createStatelessRun],
  streamRun: [contract.streamRun, contract.streamStatelessRun],
  waitRun: [contract.waitRun, contract.waitStatelessRun],
  getRun: [contract.getRun],
  listRuns: [contract.listRuns],
  joinRun: [contract.joinRun],
  joinRunStream: [contract.joinRunStream, contract.joinStatelessRunStream],
  cancelRun: [contract.cancelRun],
  deleteRun: [contract.deleteRun],
}

const ofItems: CallOperations<typeof StoreService> = {
  putItem: [contract.putItem],
  getItem: [contract.getItem],
  deleteItem: [contract.deleteItem],
  searchItems: [contract.searchItems],
  listNamespaces: [contract.listNamespaces],
}

const ofCrons: CallOperations<typeof CronService> = {
  createCron: [contract.createCron, contract.createThreadCron],
  getCron: [contract.getCron],
  updateCron: [contract.updateCron],
  deleteCron: [contract.deleteCron],
  searchCrons: [contract.searchCrons],
  countCrons: [contract.countCrons],
}

/** The operations that do the same over REST, by the path of the call. */
export const operationsOfCalls: ReadonlyMap<string, readonly [Guarded, ...Guarded[]]> = new Map([
  ...pathsOf(AssistantService, ofAssistants),
  ...pathsOf(ThreadService, ofThreads),
  ...pathsOf(RunService, ofRuns),
  ...pathsOf(StoreService, ofItems),
  ...pathsOf(CronService, ofCrons),
])

/** By the path of a call: the access of its operations, which the call needs as well. */
export const accessOfCalls: ReadonlyMap<string, Access> = new Map(
  [...operationsOfCalls].map(([path, [{ access }]]) => [path, access] as const),
)

interface Service {
  readonly typeName: string
  readonly methods: readonly { readonly name: string; readonly localName: string }[]
}

function pathsOf({ typeName, methods }: Service,
  operations: Readonly<Record<string, readonly [Guarded, ...Guarded[]]>>) {
  return methods.map(({ name, localName }) =>
    [`/${typeName}/${name}`, operations[localName]!] as const
  )
}
