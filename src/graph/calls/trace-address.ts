/** The addresses to which the project's library sends traces by itself. */

/** Variables with such an address. */
const variables = ['LANGSMITH_ENDPOINT', 'LANGCHAIN_ENDPOINT']
/** Hosts to which it sends them otherwise. */
const hosts = /^(?:[a-z]+\.)?api\.smith\.langchain\.com$/

/** True for a URL of the service that takes traces. */
export function isTraceAddress(url: string): boolean {
  const { hostname, origin } = new URL(url)
  return hosts.test(hostname) || variables.some((name) => {
    const endpoint = process.env[name]
    return endpoint !== undefined && URL.canParse(endpoint) && new URL(endpoint).origin === origin
  })
}
