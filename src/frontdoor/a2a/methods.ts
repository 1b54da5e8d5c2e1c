/** The methods of A2A by their names in both versions. The name decides the form of the answer. */

/** The version whose forms an answer has. */
export type Dialect = '1.0' | '0.3'

/** Effect of a method. */
export type A2aAction =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'card'
  | 'push-set'
  | 'push-get'
  | 'push-list'
  | 'push-delete'

/** A method that was called. */
export interface A2aMethod {
  readonly action: A2aAction
  readonly dialect: Dialect
}

const names: Readonly<Record<Dialect, Readonly<Record<string, A2aAction>>>> = {
  '1.0': {
    SendMessage: 'send',
    SendStreamingMessage: 'stream',
    GetTask: 'get',
    ListTasks: 'list',
    CancelTask: 'cancel',
    SubscribeToTask: 'subscribe',
    GetExtendedAgentCard: 'card',
    CreateTaskPushNotificationConfig: 'push-set',
    GetTaskPushNotificationConfig: 'push-get',
    ListTaskPushNotificationConfigs: 'push-list',
    DeleteTaskPushNotificationConfig: 'push-delete',
  },
  '0.3': {
    'message/send': 'send',
    'message/stream': 'stream',
    'tasks/get': 'get',
    'tasks/list': 'list',
    'tasks/cancel': 'cancel',
    'tasks/resubscribe': 'subscribe',
    'agent/getAuthenticatedExtendedCard': 'card',
    'tasks/pushNotificationConfig/set': 'push-set',
    'tasks/pushNotificationConfig/get': 'push-get',
    'tasks/pushNotificationConfig/list': 'push-list',
    'tasks/pushNotificationConfig/delete': 'push-delete',
  },
}

/** Names of all methods, of both versions. */
export const methodNames: readonly string[] = Object.values(names).flatMap(Object.keys)

/** The method with a name; undefined if there is none. */
export function methodOf(name: string): A2aMethod | undefined {
  for (const dialect of ['1.0', '0.3'] as const) {
    const action = Object.hasOwn(names[dialect], name) ? names[dialect][name] : undefined
    if (action !== undefined) return { action, dialect }
  }
  return undefined
}

/** True for a method whose answer is a stream. */
export function isStreaming(action: A2aAction): boolean {
  return action === 'stream' || action === 'subscribe'
}
