/** Parts and settings of a front door. */

import type { RunKeys, TenantKeys } from '../access/index.ts'
import type { AppUser, AuthSettings, ComponentSource, HttpSettings,
  RouteGroup } from '../graph/index.ts'
import type { QuotaOptions } from '../limits/index.ts'
import type { Platform } from '../platform/index.ts'
import type { AgentOptions } from './a2a/index.ts'
import type { ClusterSource } from './admin/cluster-watch.ts'
import type { LimitSource } from './admin/limit-report.ts'
import type { DeploymentParts } from './control/index.ts'
import type { AddressOf } from './http/connections/client-address.ts'
import type { ConnectionQuotaOptions } from './http/connections/connection-quota.ts'
import type { ExchangeParts } from './http/exchange.ts'
import type { Limit } from './http/guard.ts'
import type { AuthOptions } from './http/identify.ts'
import type { UnreadOptions } from './http/unread.ts'
import type { MountParts } from './mount/index.ts'
import type { OperationParts } from './operations/index.ts'
import type { ServerDetails } from './rest/server.ts'
import type { ThreadPlaces } from './rest/thread-place.ts'
import type { StudioOptions } from './studio.ts'

/** Parts and settings that a front door needs. Everything optional has its default at the field. */
export interface FrontDoorOptions
  extends Omit<OperationParts, 'quotas'>,
    Pick<ServerDetails, 'dependencies' | 'metrics' | 'region' | 'project'>,
    Pick<ExchangeParts, 'tracing' | 'received'>, ThreadPlaces {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Number of ports after `port` that are tried, in order, if it is taken; none by default. */
  readonly nextPorts?: number
  /** The version of this server, for `/info`. */
  readonly version: string
  /** 25 MiB by default. */
  readonly bodyLimitBytes?: number
  /** Bytes of all bodies that are being received; 512 MiB by default. */
  readonly bodiesLimitBytes?: number
  /** Bounds of long answers that clients have not read yet. */
  readonly unread?: UnreadOptions
  /** Origins besides our own that may call, `*` for all; by default, those of this machine. */
  readonly allowOrigins?: readonly string[]
  /** Names besides those of this machine by which callers without keys may call, `*` for all. */
  readonly allowHosts?: readonly string[]
  /** Authentication of callers; by default, they are not authenticated. */
  readonly auth?: AuthOptions
  /** The login that the server's own project names, asked at each request; by default none. */
  readonly projectAuth?: () => AuthSettings | undefined
  /** The tenant whose data users of that login see; by default that of servers without keys. */
  readonly authTenant?: string | undefined
  /** Keys of runs that are executed here; by default none. */
  readonly runKeys?: Pick<RunKeys<AppUser>, 'find' | 'userOf'>
  /** Finds the address of a caller; by default the other end of its connection. */
  readonly addressOf?: AddressOf
  /** Bound on connections of one address; none by default. */
  readonly connections?: ConnectionQuotaOptions
  /** Charges requests to rate limits; by default, there are none. */
  readonly limit?: Limit
  /** The limits that `limit` charges, and how much of them is used; by default, there are none. */
  readonly limits?: LimitSource
  /** The keys that admins manage; undefined if callers need none. */
  readonly tenantKeys?: TenantKeys
  /** Source from which the view of the cluster comes. */
  readonly cluster: ClusterSource
  /** Groups of routes that the server's own project turns off, asked at each request. */
  readonly disabledRoutes?: () => readonly RouteGroup[]
  /** Settings below `http` of the server's own project, asked at each request; by default none. */
  readonly projectHttp?: () => HttpSettings | undefined
  /** The components of the server's own project; by default, it has none. */
  readonly components?: ComponentSource
  /** True for a request from a proxy whose `X-Forwarded-Host` is believed; by default, none is. */
  readonly isFromProxy?: MountParts['isFromProxy']
  /** Quotas of tenants; by default, there are none. */
  readonly quotas?: QuotaOptions
  /** The platform; by default, none is served. */
  readonly platform?: Platform
  /** Deployments; by default, there are none, and no address of theirs. */
  readonly deployments?: DeploymentParts
  /** False to leave the event `end` out of streams of runs; it is sent by default. */
  readonly streamEnd?: boolean
  /** False if assistants are no tools of the Model Context Protocol; they are by default. */
  readonly mcp?: boolean
  /** Settings of A2A; null if assistants are no agents. By default no tool is shown. */
  readonly agents?: Omit<AgentOptions, 'auth' | 'loginOf'> | null
  /** A port of its own for the platform, 0 for any free one; by default, there is none. */
  readonly platformPort?: number
  /** The web page; by default, none is served. */
  readonly studio?: StudioOptions
}
