/** The typed API and the contract: each has the other's calls, and each call the same members. */

import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'

import { AssistantService } from '../../../../proto/gen/frontdoor/v1/assistant_pb.js'
import { CronService } from '../../../../proto/gen/frontdoor/v1/cron_pb.js'
import { RunService } from '../../../../proto/gen/frontdoor/v1/run_pb.js'
import { StoreService } from '../../../../proto/gen/frontdoor/v1/store_pb.js'
import { ThreadService } from '../../../../proto/gen/frontdoor/v1/thread_pb.js'
import { operations } from '../../../../src/api/index.ts'
import type { Operation } from '../../../../src/api/index.ts'
import { operationsOfCalls } from '../../../../src/frontdoor/connect/access.ts'

const calls: readonly DescMethod[] = [AssistantService, CronService, RunService, StoreService,
  ThreadService].flatMap(({ methods }) => methods)

const shared = operations.filter(({ resource }) =>
  ['Assistants', 'Threads', 'State', 'Runs', 'Stateless runs', 'Crons', 'Store'].includes(resource)
)

/** Operations of a call, by its name. */
const operationsOf: Readonly<Record<string, readonly Operation[]>> = Object.fromEntries(
  calls.map(({ localName, name, parent }) =>
    [localName, operationsOfCalls.get(`/${parent.typeName}/${name}`)!] as const
  ),
)

/** Operations without a typed call. */
const onlyRest: Readonly<Record<string, string>> = {
  cancelRuns: 'CancelRun takes each',
  createRuns: 'CreateRun takes each',
  getRunCall: 'for the Studio',
  getRunEffects: 'for the Studio',
  getRunLogs: 'for people who read them in the Studio',
  getThreadPlace: 'for operators',
  getThreadStorage: 'for operators',
  getThreadUsage: 'for the Studio',
  lastCronRuns: 'for the Studio',
  listRunCalls: 'for the Studio',
  joinThreadStream: 'FollowThread sends the same, and more',
  openThreadSocket: 'a call needs no socket of its own',
  patchThreadState: 'not offered',
  previewCron: 'for the Studio',
  pruneThreads: 'DeleteThread takes each',
  searchRuns: 'not offered',
  sendCommand: 'each command is a call of its own',
  triggerCron: 'CreateRun does the same',
}

/** Other names of members in the contract. */
const renamed: Readonly<Record<string, readonly string[]>> = {
  after_seq: ['since'],
  before_checkpoint_id: ['before'],
  cancel_on_disconnect: ['on_disconnect'],
  clear_end_time: ['end_time'],
  create_thread: ['if_not_exists'],
  keep_existing: ['if_exists'],
  keep_thread: ['on_completion'],
  minutes: ['ttl', 'ttl_minutes'],
  namespaces: ['namespace'],
  next_run_at: ['next_run_date'],
  rollback: ['action'],
  stream_modes: ['stream_mode'],
  thread_ids: ['ids'],
  time_to_live: ['ttl'],
  total: ['x_pagination_total'],
  ttl_minutes: ['ttl'],
  without_values: ['select'],
}

/** Members that only the contract has, of all calls or of one. */
const notTyped: Readonly<Record<string, string>> = {
  'checkpoint_during': 'an older word for durability',
  'content_location': 'the message names the run',
  'langsmith_tracer': 'is ignored',
  'select': 'a message has all fields',
  'x_heddle_revision': 'is a header there too',
  'x_heddle_warning': 'only over HTTP',
  'x_pagination_cursor': 'not offered',
  'x_pagination_next': 'follows from the total',
  'cancelRun.reason': 'for the Studio',
  'countThreads.by': 'not offered',
  'createRun.checkpoint_id': 'checkpoint names it',
  'createRun.feedback_keys': 'not offered',
  'followThread.last_event_id': 'after_seq names it',
  'getItem.include': 'for the Studio',
  'getItem.ttl': 'of those that ask for it',
  'getThread.include': 'the time to live is always there',
  'getThreadState.checkpoint_id': 'checkpoint names it',
  'joinRun.cancel_on_disconnect': 'not offered',
  'joinRunStream.cancel_on_disconnect': 'not offered',
  'searchCrons.now': 'for the Studio',
  'searchItems.include': 'for the Studio',
  'searchItems.q': 'for the Studio',
  'searchItems.ttl': 'of those that ask for it',
  'streamRun.checkpoint_id': 'checkpoint names it',
  'streamRun.feedback_keys': 'not offered',
  'searchThreads.cursor': 'not offered',
  'updateThread.prefer': 'the answer always has a body',
  'updateThreadState.checkpoint_id': 'checkpoint names it',
  'waitRun.checkpoint_id': 'checkpoint names it',
  'waitRun.feedback_keys': 'not offered',
}

/** Members that only the typed API has, of all calls or of one. */
const notRest: Readonly<Record<string, string>> = {
  expires_at: 'of answers alone',
  extracted: 'of a search alone',
  time_to_live: 'REST answers it where `include` asks for it',
}

/** A part of a schema, as JSON Schema has it. */
interface Part {
  readonly properties?: Readonly<Record<string, Part>>
  readonly anyOf?: readonly Part[]
  readonly items?: Part
}

type Members = ReadonlyMap<string, readonly Part[]>

/** Members of the objects in these schemas: those of lists and of alternatives too. */
function membersOf(parts: readonly Part[]): Members {
  const all = parts.flatMap((part) => objectsIn(part)).flatMap((each) => Object.entries(each))
  return new Map([...Map.groupBy(all, ([name]) => name)]
    .map(([name, entries]) => [name, entries.map(([, part]) => part)]))
}

function objectsIn({ properties, anyOf = [], items }: Part): Readonly<Record<string, Part>>[] {
  const inside = [...anyOf, ...items ? [items] : []].flatMap(objectsIn)
  return properties === undefined ? inside : [properties, ...inside]
}

/** A header as a member. */
const headerName = (name: string) => name.replaceAll('-', '_')

function requestOf({ params, query, body, headers }: Operation): Part[] {
  const sent = Object.entries<Part>(headers?.properties ?? {})
  return [params ?? {}, query ?? {}, body ?? {}, {
    properties: Object.fromEntries(sent.map(([name, part]) => [headerName(name), part])),
  }]
}

function answerOf({ answer, returns = [] }: Operation): Part[] {
  return [answer ?? {}, { properties: Object.fromEntries(returns.map((n) => [headerName(n), {}])) }]
}

/** What one side of a call has and the other lacks. */
interface Difference {
  readonly call: string
  readonly side: 'typed' | 'rest'
  readonly member: string
}

/** Compares a message with schemas. A message inside it that they have no member for is spread. */
function compare(call: string, message: DescMessage, parts: readonly Part[]): Difference[] {
  const rest = membersOf(parts)
  const seen = new Set<string>()
  const differences: Difference[] = []
  const visit = (field: DescField) => {
    const own = field.name.replace(/_json$/, '')
    const name = [own, ...renamed[own] ?? []].find((each) => rest.has(each))
    if (name !== undefined) {
      seen.add(name)
      const inside = rest.get(name)!
      if (field.message && membersOf(inside).size > 0) {
        differences.push(...compare(call, field.message, inside))
      }
    } else if (field.message?.typeName.startsWith('frontdoor.') && !(own in notRest)) {
      field.message.fields.forEach(visit)
    } else differences.push({ call, side: 'typed', member: own })
  }
  message.fields.forEach(visit)
  return [...differences, ...[...rest.keys()].filter((name) => !seen.has(name))
    .map((member) => ({ call, side: 'rest', member }) as const)]
}

function differencesOf({ localName, input, output, methodKind }: DescMethod): Difference[] {
  const found = operationsOf[localName]!
  const isOpaque = output.fields.some(({ name }) => name === 'count' || name.endsWith('_json'))
  return [
    ...compare(localName, input, found.flatMap(requestOf)),
    ...methodKind === 'unary' && !isOpaque
      ? compare(localName, output, found.flatMap(answerOf))
      : [],
  ]
}

describe('the typed API', () => {
  it('has a call for every operation but these', () => {
    const called = new Set(calls.flatMap(({ localName }) => operationsOf[localName]!))
    expect([...called].filter((each) => !shared.some(({ operation }) => operation === each)))
      .toEqual([])
    expect(
      shared.filter(({ operation }) => !called.has(operation)).map(({ name }) => name).toSorted(),
    )
      .toEqual(Object.keys(onlyRest).toSorted())
  })

  it('has the members of the contract but these', () => {
    const differences = calls.flatMap(differencesOf)
    const used = new Set<string>()
    const unlike = differences.filter(({ call, side, member }) => {
      const reasons = side === 'rest' ? notTyped : notRest
      const key = [member, `${call}.${member}`].find((each) => each in reasons)
      if (key !== undefined) used.add(key)
      return key === undefined
    })
    expect(unlike.map(({ call, side, member }) => `${side} only: ${call}.${member}`)).toEqual([])
    expect([...Object.keys(notTyped), ...Object.keys(notRest)].filter((key) => !used.has(key)))
      .toEqual([])
  })
})
