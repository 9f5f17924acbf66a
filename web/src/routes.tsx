import { exec, Route, Router } from 'preact-iso/router'
import { load } from './load.js'

const Classement = load(() => import('./pages/classement/page.js'))
const Challenges = load(() => import('./pages/challenges.js'))
const Challenge = load(() => import('./pages/challenge/page.js'))
const Auteurs = load(() => import('./pages/auteurs.js'))
const Auteur = load(() => import('./pages/auteur/page.js'))
const Environnements = load(() => import('./pages/environnements.js'))
const Environnement = load(() => import('./pages/environnement.js'))
const Compte = load(() => import('./pages/compte/page.js'))
const Exploitation = load(() => import('./pages/exploitation/page.js'))
const Home = load(() => import('./pages/home.js'))
const Missing = load(() => import('./pages/missing.js'))

/** Every page by path. Its code and libraries are loaded when it is first shown. */
const PAGES = {
  '/': Home,
  '/p/classement': Classement,
  '/p/challenges': Challenges,
  '/p/challenges/:id': Challenge,
  '/p/auteurs': Auteurs,
  '/p/auteurs/:id': Auteur,
  '/p/environnements': Environnements,
  '/p/environnements/:id': Environnement,
  '/p/compte': Compte,
  '/p/exploitation': Exploitation,
}

export function Routes() {
  return (
    <Router>
      {Object.entries(PAGES).map(([path, component]) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route default component={Missing} />
    </Router>
  )
}

/** Starts to load the code of the page at this path, while the session is still being checked. */
export function preload(path: string): void {
  const found = Object.entries(PAGES).find(([pattern]) => exec(path, pattern, { path, query: {}, params: {} }))
  void found?.[1].preload()
}
