/** Headers that proxies, balancers and tunnels add to the requests that they pass on. */

const names: ReadonlySet<string> = new Set(['forwarded', 'via', 'x-real-ip', 'x-client-ip',
  'client-ip', 'true-client-ip', 'x-cluster-client-ip', 'x-remote-ip', 'x-remote-addr', 'x-scheme',
  'front-end-https', 'cdn-loop', 'max-forwards', 'proxy-connection', 'proxy-authorization',
  'x-cloud-trace-context'])

const prefixes = ['x-forwarded', 'x-original-', 'x-proxy', 'x-envoy-', 'x-amz-', 'x-amzn-',
  'x-azure-', 'x-appengine-', 'x-goog-', 'x-arr-', 'x-ms-', 'x-vercel-', 'cf-', 'cloudfront-',
  'fastly-', 'fly-', 'akamai-', 'tailscale-', 'ngrok-'] as const

/** True if proxies, balancers or tunnels add this header. The name is in lower case. */
export function isForwardingHeader(name: string): boolean {
  return names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
