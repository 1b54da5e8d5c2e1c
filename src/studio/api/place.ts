/**
 * Addresses of this page and of the API, and the deployment that the page is of. Read once: the
 * address bar changes later.
 */

/** The address of the folder of the page's files, with a slash at its end. */
const filesUrl = new URL('./', document.baseURI)

/** The deployment that the page is of, as `shop` in `/studio/d/shop/threads`; null for none. */
export const deploymentName = deploymentIn(location.pathname.slice(filesUrl.pathname.length))

/** The address of the Studio of a deployment, or of the server's own project. */
export const studioOf = (name: string | null): URL =>
  name === null ? filesUrl : new URL(`d/${name}/`, filesUrl)

/** The address that pages begin with, with a slash at its end. */
export const studioUrl = studioOf(deploymentName)

const elsewhere = document.querySelector<HTMLMetaElement>('meta[name=heddle-api]')?.content

/** The page that frames of components show. */
export const componentPageUrl = new URL('component.html', filesUrl).href

/** The server of this page, or the one that it was made for. */
const serverUrl = elsewhere === undefined || elsewhere === ''
  ? new URL('../', filesUrl).href.replace(/\/$/, '')
  : elsewhere.replace(/\/$/, '')

/** Prefix of the paths of the API, without a slash at its end. */
export const apiUrl = deploymentName === null ? serverUrl : `${serverUrl}/d/${deploymentName}`

/** Parts of the API that are of the server, whichever deployment the page is of. */
const ofServer = /^\/(?:control|cluster|keys|limits)(?![\w-])/

/** The address of a path of the API. */
export const urlOf = (path: string): string => (ofServer.test(path) ? serverUrl : apiUrl) + path

function deploymentIn(path: string): string | null {
  return /^d\/([a-z0-9-]{1,63})(?:\/|$)/.exec(path)?.[1] ?? null
}
