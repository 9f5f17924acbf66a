import lazy from 'preact-iso/lazy'
import { Route, Router } from 'preact-iso/router'

const Classement = lazy(() => import('./pages/classement/page.js'))
const Challenges = lazy(() => import('./pages/challenges.js'))
const Challenge = lazy(() => import('./pages/challenge/page.js'))
const Auteurs = lazy(() => import('./pages/auteurs.js'))
const Auteur = lazy(() => import('./pages/auteur/page.js'))
const Environnements = lazy(() => import('./pages/environnements.js'))
const Environnement = lazy(() => import('./pages/environnement.js'))
const Compte = lazy(() => import('./pages/compte/page.js'))
const Exploitation = lazy(() => import('./pages/exploitation/page.js'))
const Home = lazy(() => import('./pages/home.js'))
const Missing = lazy(() => import('./pages/missing.js'))

/** Every address of the page; each brings its code, and its libraries, when it is first shown. */
export function Routes() {
  return (
    <Router>
      <Route path="/" component={Home} />
      <Route path="/p/classement" component={Classement} />
      <Route path="/p/challenges" component={Challenges} />
      <Route path="/p/challenges/:id" component={Challenge} />
      <Route path="/p/auteurs" component={Auteurs} />
      <Route path="/p/auteurs/:id" component={Auteur} />
      <Route path="/p/environnements" component={Environnements} />
      <Route path="/p/environnements/:id" component={Environnement} />
      <Route path="/p/compte" component={Compte} />
      <Route path="/p/exploitation" component={Exploitation} />
      <Route default component={Missing} />
    </Router>
  )
}
