/** The regions of the service and their published addresses, for the firewalls of others. */

/** The published addresses of a region. */
export interface Region {
  /** Addresses from which endpoints of customers are called. */
  readonly egress: readonly string[]
  /** Addresses at which clients reach the hosts of the region. */
  readonly ingress: readonly string[]
}

/** The name of a region, which its API keys contain. */
export type RegionName = keyof typeof regions

/** The names of all regions. */
export const regionNames = ['us', 'eu'] as const satisfies readonly RegionName[]

/** All regions. The service specification publishes the addresses, in this order. */
export const regions = {
  us: {
    egress: ['34.59.65.97', '34.67.51.221', '34.46.212.37', '34.132.150.88', '35.188.222.201',
      '34.58.194.127', '34.59.97.173', '104.198.162.55'],
    ingress: ['34.8.121.39', '34.107.251.234'],
  },
  eu: {
    egress: ['34.13.192.67', '34.147.105.64', '34.90.22.166', '34.147.36.213', '34.32.137.113',
      '34.91.238.184', '35.204.101.241', '35.204.48.32'],
    ingress: ['34.95.92.214', '34.13.73.122'],
  },
} as const satisfies Record<string, Region>
