/** What is verified: a server, or several that serve the same threads. */

export interface Target {
  readonly name: string
  /** URLs of the front doors. They stay the same over all faults. */
  readonly urls: readonly string[]
  /** Milliseconds for which a round loads it: enough for several faults. */
  readonly loadMs: number
  /** Faults that can be injected, by name. Each resolves when all servers serve again. */
  readonly faults: Readonly<Record<string, Inject>>
  /** Path that returns 200 when it serves. Default: `/ok`. */
  readonly healthPath?: string
  /**
   * What it does not offer: names of operations, and of tasks such as `task.mail`. Default:
   * nothing.
   */
  readonly missing?: RegExp
  /** API keys of the tenant of the workload, and of another one, which must see nothing of it. */
  readonly keys?: { readonly own: string; readonly foreign: string }
  /** A deployment with revisions of the graph, which serves threads of its own. */
  readonly deployment?: Deployment
  /** A deployment with a login, of which all requests are those of two users. */
  readonly guarded?: Guarded
  close(): Promise<void>
}

/** A deployment, and the revisions that it has; the first one is active. */
export interface Deployment {
  readonly name: string
  readonly revisions: readonly string[]
}

/** A deployment with a login: a user sees the threads of this user only. */
export interface Guarded {
  readonly name: string
  /** Credentials of the user of the workload, and of one that must see nothing of it. */
  readonly users: { readonly own: string; readonly foreign: string }
}

export interface TargetOptions {
  /** URL to which graphs send their effects. */
  readonly receiverUrl: string
  /**
   * Folder or commit of the version before, between which and this one servers change. Default:
   * they do not change.
   */
  readonly before?: string
}

/** Starts a target. */
export type StartTarget = (options: TargetOptions) => Promise<Target>

/** A fault: resolves when all servers serve again. */
export type Inject = () => Promise<void>
